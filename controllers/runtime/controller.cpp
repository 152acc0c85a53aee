#include "controllers/runtime/controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "controllers/runtime/memory.h"

namespace tpuslice::runtime {
namespace {

WorkQueueOptions named(WorkQueueOptions options, const std::string& name) {
  options.name = name;
  return options;
}

/// Retry interval of a key in a namespace for which a store is not synced, while others are: no change of the store
/// says when it is, if the namespace has no object in it.
constexpr Duration kUnsyncedRetry = std::chrono::seconds(1);

/// After a plan of this size, free memory is returned to the system.
constexpr std::size_t kManyActions = 64;

std::size_t actions_of(const plan::Plan& plan) {
  std::size_t count = 0;
  for (const plan::Stage& stage : plan.stages) count += stage.actions.size();
  return count;
}

using Counters = std::map<std::pair<std::string, MetricLabels>, Counter*>;

bool is_muted(const ControllerOptions& options, std::string_view counter) {
  return !options.muted_counters.empty() && counter.starts_with(options.muted_counters);
}

/// The counters, which are zero, with all values of their labels.
Counters register_counters(const ControllerOptions& options, Metrics& metrics) {
  Counters out;
  for (const plan::CounterDefinition* counter : options.counters) {
    if (is_muted(options, counter->name)) continue;
    const std::string name(counter->name);
    const auto add = [&](const MetricLabels& labels) {
      out.emplace(std::pair(name, labels), &metrics.counter(name, std::string(counter->help), labels));
    };
    if (!counter->object_label.empty()) continue;
    if (counter->label.empty()) add({});
    for (const std::string_view value : counter->values) add({{std::string(counter->label), std::string(value)}});
  }
  return out;
}

/// Whether the measurement is of a declared counter with a series for each object.
bool is_of_object(std::span<const plan::CounterDefinition* const> declared, const plan::Measurement& measured) {
  return std::ranges::any_of(declared, [&](const plan::CounterDefinition* counter) {
    return counter->name == measured.name && measured.labels.contains(std::string(counter->object_label));
  });
}

}  // namespace

Controller::Controller(std::unique_ptr<plan::Reconciler> reconciler, ControllerOptions options,
                       Dependencies dependencies)
    : reconciler_(std::move(reconciler)),
      options_(std::move(options)),
      executor_(dependencies.executor),
      clock_(dependencies.clock),
      registry_(dependencies.metrics),
      counters_(register_counters(options_, registry_)),
      object_counters_(registry_),
      metrics_(controller_metrics(registry_, reconciler_->name())),
      log_(dependencies.log.with({{"controller", reconciler_->name()},
                                  {"controllerGroup", reconciler_->resource().group},
                                  {"controllerKind", reconciler_->resource().kind}})),
      barrier_("controller", registry_, clock_, log_),
      queue_(named(options_.queue, reconciler_->name()), dependencies.clock, dependencies.metrics),
      ledger_(options_.write_expiry) {
  metrics_.max_concurrent.set(options_.workers);
  ledger_.on_expired([this](const ExpiredWrite& expired) {
    metrics_.unseen_writes.increment();
    log_.warn("write not seen in time", {{"namespace", expired.owner.namespace_name},
                                         {"name", expired.owner.name},
                                         {"resource", expired.write.type.resource()},
                                         {"object", expired.write.key.to_string()}});
  });
}

std::vector<ObjectKey> Controller::owner_of(const ObjectKey& child,
                                            const std::optional<ControllerRef>& controller) const {
  const ResourceType type = reconciler_->resource();
  if (!controller || controller->kind != type.kind || controller->api_version != type.api_version()) return {};
  return {{type.namespaced ? child.namespace_name : "", controller->name}};
}

void Controller::sends_requests(WorkloadClient& client) {
  workloads_ = &client;
  client.on_answer(name(), [this](const ObjectKey& key) { queue_.add(key); });  // Only to requests of plans.
}

bool Controller::synced() const {
  return std::ranges::all_of(stores_, [](const AnyStore* store) { return store->partly_synced(); });
}

std::vector<KeyReport> Controller::report(const KeyQuery& query) const {
  // More than are returned, so that the namespace is found among others.
  constexpr std::size_t kSearched = 10'000;
  const auto matches = [&query](const ObjectKey& key) {
    return (query.namespace_name.empty() || key.namespace_name == query.namespace_name) &&
           (query.name.empty() || key.name == query.name);
  };
  std::set<ObjectKey> keys;
  if (!query.name.empty()) keys.insert({query.namespace_name, query.name});
  for (const auto& some : {queue_.first_keys(kSearched), recent_plans_.keys()}) {
    for (const ObjectKey& key : some) {
      if (matches(key) && keys.size() < query.limit) keys.insert(key);
    }
  }
  std::vector<KeyReport> out;
  for (const ObjectKey& key : keys) {
    KeyReport each{name(), key, queue_.state_of(key), recent_plans_.of(key), ledger_.unseen(key)};
    const bool known = each.queue.state != QueuedKey::State::kIdle || each.last_plan || each.unseen_writes > 0;
    if (known) out.push_back(std::move(each));
  }
  return out;
}

void Controller::start() {
  if (!started_.exchange(true)) resync();
}

void Controller::resync() {
  if (!started_) return;
  for (const auto& add_all : add_all_) add_all();
}

bool Controller::step(Instant now, const std::stop_token& stop) {
  start();
  const std::optional<ObjectKey> key = queue_.pop(now);
  if (!key) return false;
  process(*key, now, stop);
  return true;
}

void Controller::run(const std::stop_token& stop, const std::stop_token& cancel) {
  start();
  while (const std::optional<ObjectKey> key = queue_.wait_pop(stop)) process(*key, clock_.now(), cancel);
}

void Controller::process(const ObjectKey& key, Instant now, const std::stop_token& stop) {
  metrics_.active_workers.add(1);
  if (const Status done = barrier_.run([&] { reconcile(key, now, stop); }); !done) {
    metrics_.panics.increment();
    queue_.add_rate_limited(key);
  }
  metrics_.active_workers.add(-1);
  queue_.done(key);
}

void Controller::reconcile(const ObjectKey& key, Instant now, const std::stop_token& stop) {
  if (!std::ranges::all_of(stores_, [&](const AnyStore* store) { return store->synced(key); })) {
    queue_.add_after(key, kUnsyncedRetry);
    return;
  }
  if (!ledger_.satisfied(key, now)) {
    queue_.add_after(key, options_.lag_poll);
    return;
  }
  ReconcileLog log(log_, key);
  // Read before planning: preconditions then detect any later change.
  const Target seen = target(key);
  const Instant begin = clock_.now();
  Result<plan::Plan> planned = plan({key, clock_.wall(), last_failure(key)});
  queue_.planned(key, clock_.now() - begin);
  if (planned) limit_counts(key, now, *planned);
  if (planned && options_.write_backoff) options_.write_backoff->failed_writes()->hold_back(*planned, clock_.wall());
  if (!seen.status) set_counts_written(key, std::nullopt);
  if (!planned) {
    recent_plans_.record(key, {clock_.wall(), {}, planned.error().message(), 0});
    failed(key, planned.error(), std::nullopt, log, stop);
  } else {
    const ExecutionReport report = executor_.apply(*planned, seen, stop);
    ledger_.record(key, report.writes, clock_.now());
    if (report.status_written && planned->status->counts_only) set_counts_written(key, now);
    if (workloads_ != nullptr && report.ok()) workloads_->set({name(), key}, planned->requests);
    recent_plans_.record(
        key, {clock_.wall(), planned->reason, report.ok() ? "" : report.error->message(), report.written()});
    measure(*planned, report);
    settle(key, *planned, report, log, stop);
  }
  metrics_.time.observe(std::chrono::duration<double>(clock_.now() - now).count());
}

Result<plan::Plan> Controller::plan(const plan::ReconcileInput& input) const {
  // An exception for one object must not stop the others.
  Result<plan::Plan> planned = barrier_.run([&] { return reconciler_->plan(input); });
  if (planned || planned.error().code() != ErrorCode::kDefect) return planned;
  metrics_.panics.increment();
  return planned.error().within(fmt::format("{} {}", reconciler_->name(), input.key.to_string()));
}

void Controller::measure(const plan::Plan& plan, const ExecutionReport& report) const {
  const auto record = [&](const plan::Measurement& measured) {
    switch (measured.kind) {
      case plan::Measurement::Kind::kCount:
        if (is_muted(options_, measured.name)) break;
        if (const auto counter = counters_.find({measured.name, measured.labels}); counter != counters_.end()) {
          counter->second->increment(measured.value);
        } else if (is_of_object(options_.counters, measured)) {
          object_counters_.increment(measured);
        } else {
          log_.error("counter is not declared", {{"name", measured.name}});
        }
        break;
      case plan::Measurement::Kind::kDuration:
        registry_.histogram(measured.name, measured.help, long_duration_buckets(), measured.labels)
            .observe(measured.value);
        break;
      case plan::Measurement::Kind::kLevel:
        registry_.gauge(measured.name, measured.help, measured.labels).set(measured.value);
        break;
    }
  };
  for (const EventsReport& done : report.events(plan)) {
    if (!done.began) continue;
    std::ranges::for_each(done.events->measurements, record);
    if (options_.on_interruption && done.events->interruption) options_.on_interruption(*done.events->interruption);
  }
  for (const plan::Measurement& measured : plan.measurements) {
    // A level is true whatever becomes of the plan; the others would be counted again by the next one.
    if (!report.cut_short() || measured.kind == plan::Measurement::Kind::kLevel) record(measured);
  }
}

void Controller::settle(const ObjectKey& key, const plan::Plan& plan, const ExecutionReport& report, ReconcileLog& log,
                        const std::stop_token& stop) {
  if (!plan.stages.empty() || report.status_written) {
    log.info(
        "plan applied",
        {{"reason", plan.reason}, {"actions", actions_of(plan)}, {"writes", report.written()}, {"ok", report.ok()}});
  }
  if (actions_of(plan) >= kManyActions) return_free_memory();
  if (options_.write_backoff && record_writes(key, plan, report, log)) return;
  if (!report.ok()) return failed(key, *report.error, report.failure, log, stop);
  const bool recovered = !plan.keeps_failure && last_failure(key).has_value();
  if (recovered) set_failure(key, std::nullopt);
  queue_.forget(key);
  // The plan that succeeded still reported the last failure in its status. Plan again without it.
  if (recovered) queue_.add(key);
  if (plan.requeue_after) {
    metrics_.requeue_after.increment();
    queue_.add_after(key, *plan.requeue_after);
  } else {
    metrics_.success.increment();
  }
}

bool Controller::record_writes(const ObjectKey& key, const plan::Plan& plan, const ExecutionReport& report,
                               ReconcileLog& log) {
  const WriteBackoff::Failures failures = options_.write_backoff->record(plan, report, clock_.wall());
  if (failures.count == 0) return false;
  queue_.forget(key);
  queue_.add_after(key, *failures.retry_at - clock_.wall());
  if (plan.requeue_after) queue_.add_after(key, *plan.requeue_after);
  // They are an input of the next plan.
  if (failures.keeps_failing) queue_.add(key);
  if (report.error->code() == ErrorCode::kConflict && !failures.keeps_failing) {
    metrics_.requeue.increment();
    log.debug("plan outdated", {{"error", report.error->message()}});
  } else {
    report_error(*report.error, log);
  }
  return true;
}

void Controller::report_error(const Error& error, ReconcileLog& log) {
  metrics_.error.increment();
  metrics_.errors.increment();
  if (error.code() == ErrorCode::kTimeout) metrics_.timeouts.increment();
  if (is_terminal(error)) metrics_.terminal_errors.increment();
  log.error("reconcile failed", {{"error", error.message()}, {"code", to_string(error.code())}});
}

void Controller::failed(const ObjectKey& key, const Error& error, const std::optional<plan::Failure>& failure,
                        ReconcileLog& log, const std::stop_token& stop) {
  if (is_terminal(error)) {
    queue_.add_after(key, options_.terminal_retry);
  } else {
    queue_.add_rate_limited(key, error.retry_after().value_or(Duration::zero()));
  }
  if (error.code() == ErrorCode::kCancelled) return;
  if (error.code() == ErrorCode::kConflict) {
    metrics_.requeue.increment();
    log.debug("plan outdated", {{"error", error.message()}});
    return;
  }
  report_error(error, log);
  if (!failure) return;
  plan::Failure timed = *failure;
  timed.time = clock_.wall();
  set_failure(key, timed);
  // While stages fail, no plan reaches its status write, so the failure is written now. A status depends only on the
  // observation, so it can be written without the rest of its plan.
  const Target seen = target(key);
  const Result<plan::Plan> next = plan({key, timed.time, timed});
  if (!next) return;
  // A plan without the write that failed does not wait for what only a change resolves.
  if (is_terminal(error) && next->keeps_failure && !next->stages.empty()) queue_.add_rate_limited(key);
  // Deadlines must also be met for objects whose plans fail.
  if (next->requeue_after) {
    queue_.add_after(key, std::max({*next->requeue_after, options_.min_failed_requeue,
                                    error.retry_after().value_or(Duration::zero())}));
  }
  const ExecutionReport report = executor_.apply_status(*next, seen, stop);
  ledger_.record(key, report.writes, clock_.now());
  if (!report.ok() && report.failure) {
    log.warn("failure not written to the status", {{"error", report.error->message()}});
  }
}

void Controller::limit_counts(const ObjectKey& key, Instant now, plan::Plan& plan) const {
  if (!plan.status || !plan.status->counts_only) return;
  const MutexLock lock(mutex_);
  const auto written = counts_written_.find(key);
  if (written == counts_written_.end() || now >= written->second + options_.counts_interval) return;
  plan.status.reset();
  plan::requeue_within(plan.requeue_after, written->second + options_.counts_interval - now);
}

void Controller::set_counts_written(const ObjectKey& key, std::optional<Instant> time) {
  const MutexLock lock(mutex_);
  if (time) {
    counts_written_[key] = *time;
  } else {
    counts_written_.erase(key);
  }
}

Target Controller::target(const ObjectKey& key) const {
  if (find_target_) {
    if (std::optional<Target> found = find_target_(key)) return *std::move(found);
  }
  const ResourceType type = reconciler_->resource();
  return {{type.api_version(), std::string(type.kind), key, {}, {}}, type, nullptr};
}

std::optional<plan::Failure> Controller::last_failure(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto found = failures_.find(key);
  return found == failures_.end() ? std::nullopt : std::optional<plan::Failure>(found->second);
}

void Controller::set_failure(const ObjectKey& key, std::optional<plan::Failure> failure) {
  const MutexLock lock(mutex_);
  if (failure) {
    failures_[key] = *std::move(failure);
  } else {
    failures_.erase(key);
  }
}

}  // namespace tpuslice::runtime
