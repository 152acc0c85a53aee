#include "controllers/runtime/controller.h"

#include <exception>
#include <type_traits>
#include <utility>

#include "controllers/runtime/memory.h"

namespace tpuslice::runtime {
namespace {

WorkQueueOptions named(WorkQueueOptions options, const std::string& name) {
  options.name = name;
  return options;
}

template <typename View>
Target target_of(const ResourceType& type, const View& view) {
  Target target{{type.api_version(), std::string(type.kind), view.key, view.uid, view.resource_version}, type, nullptr};
  if constexpr (std::is_same_v<View, ObjectView>) {
    if (const Json* status = find_path(view.object.json(), {"status"})) target.status = *status;
  }
  return target;
}

/// Half a second to over nine hours: what a plan measures is what people wait for.
const Buckets kLongDurations = exponential_buckets(0.5, 2, 17);

/// A plan this large leaves much free memory behind.
constexpr std::size_t kManyActions = 64;

std::size_t actions_of(const Plan& plan) {
  std::size_t count = 0;
  for (const Stage& stage : plan.stages) count += stage.actions.size();
  return count;
}

}  // namespace

Controller::Controller(std::unique_ptr<Reconciler> reconciler, ControllerOptions options, Dependencies dependencies)
    : reconciler_(std::move(reconciler)),
      options_(std::move(options)),
      executor_(dependencies.executor),
      clock_(dependencies.clock),
      registry_(dependencies.metrics),
      metrics_(controller_metrics(registry_, reconciler_->name())),
      log_(dependencies.log.with({{"controller", reconciler_->name()}})),
      queue_(named(options_.queue, reconciler_->name()), dependencies.clock, dependencies.metrics),
      ledger_(options_.write_expiry) {
  metrics_.max_concurrent.set(options_.workers);
  ledger_.on_expired([this](const ExpiredWrite& expired) {
    metrics_.unseen_writes.increment();
    log_.warn("a write was not seen in time", {{"key", expired.owner.to_string()},
                                               {"resource", expired.write.type.resource()},
                                               {"object", expired.write.key.to_string()}});
  });
}

template <typename View>
void Controller::watches(Store<View>& store, KeyMap<View> keys) {
  const ResourceType reconciled = reconciler_->resource();
  if (!keys) {
    if (store.type() == reconciled) {
      keys = [](const View& view) { return std::vector<ObjectKey>{view.key}; };
    } else {
      keys = [api_version = reconciled.api_version(), kind = reconciled.kind,
              namespaced = reconciled.namespaced](const View& view) {
        std::vector<ObjectKey> owners;
        if (view.controller && view.controller->kind == kind && view.controller->api_version == api_version) {
          owners.push_back({namespaced ? view.key.namespace_name : "", view.controller->name});
        }
        return owners;
      };
    }
  }
  store.add_listener([this, keys = std::move(keys)](const auto& before, const auto& after) {
    if (before) {
      for (const ObjectKey& key : keys(*before)) queue_.add(key);
    }
    if (after) {
      for (const ObjectKey& key : keys(*after)) queue_.add(key);
    }
  });
  ledger_.add_probe(probe_of(store));
  synced_.push_back([&store] { return store.synced(); });
  if (store.type() == reconciled && !find_target_) {
    find_target_ = [&store](const ObjectKey& key) -> std::optional<Target> {
      const auto view = store.get(key);
      if (!view) return std::nullopt;
      return target_of(store.type(), *view);
    };
  }
}
template void Controller::watches(Store<PodView>&, KeyMap<PodView>);
template void Controller::watches(Store<NodeView>&, KeyMap<NodeView>);
template void Controller::watches(Store<JobView>&, KeyMap<JobView>);
template void Controller::watches(Store<StatefulSetView>&, KeyMap<StatefulSetView>);
template void Controller::watches(Store<ServiceView>&, KeyMap<ServiceView>);
template void Controller::watches(Store<ObjectView>&, KeyMap<ObjectView>);

bool Controller::synced() const {
  for (const auto& store_synced : synced_) {
    if (!store_synced()) return false;
  }
  return true;
}

bool Controller::step(Instant now, const std::stop_token& stop) {
  const std::optional<ObjectKey> key = queue_.pop(now);
  if (!key) return false;
  reconcile(*key, now, stop);
  queue_.done(*key);
  return true;
}

void Controller::run(const std::stop_token& stop, const std::stop_token& cancel) {
  while (const std::optional<ObjectKey> key = queue_.wait_pop(stop)) {
    reconcile(*key, clock_.now(), cancel);
    queue_.done(*key);
  }
}

void Controller::reconcile(const ObjectKey& key, Instant now, const std::stop_token& stop) {
  if (!ledger_.satisfied(key, now)) {
    queue_.add_after(key, options_.lag_poll);
    return;
  }
  metrics_.active_workers.add(1);
  // Before the plan: what it does not see of later changes is in the preconditions of its writes.
  const Target seen = target(key);
  const Result<Plan> planned = plan({key, clock_.wall(), last_failure(key)});
  if (!planned) {
    failed(key, planned.error(), std::nullopt, stop);
  } else {
    const ExecutionReport report = executor_.apply(*planned, seen, stop);
    ledger_.record(key, report.writes, clock_.now());
    measure(*planned, report);
    settle(key, *planned, report, stop);
  }
  metrics_.time.observe(std::chrono::duration<double>(clock_.now() - now).count());
  metrics_.active_workers.add(-1);
}

Result<Plan> Controller::plan(const ReconcileInput& input) const {
  // One object that breaks a reconciler must not stop the work on all others.
  try {
    return reconciler_->plan(input);
  } catch (const std::exception& thrown) {
    metrics_.panics.increment();
    return Error::internal("{} {}: planning threw: {}", reconciler_->name(), input.key.to_string(), thrown.what());
  }
}

void Controller::measure(const Plan& plan, const ExecutionReport& report) const {
  for (const Measurement& measured : plan.measurements) {
    if (measured.after && !report.succeeded(plan, *measured.after)) continue;
    switch (measured.kind) {
      case Measurement::Kind::kCount:
        registry_.counter(measured.name, measured.help, measured.labels).increment(measured.value);
        break;
      case Measurement::Kind::kDuration:
        registry_.histogram(measured.name, measured.help, kLongDurations, measured.labels).observe(measured.value);
        break;
      case Measurement::Kind::kLevel:
        registry_.gauge(measured.name, measured.help, measured.labels).set(measured.value);
        break;
    }
  }
}

void Controller::settle(const ObjectKey& key, const Plan& plan, const ExecutionReport& report,
                        const std::stop_token& stop) {
  if (!plan.stages.empty() || report.status_written) {
    log_.info("plan applied", {{"key", key.to_string()},
                               {"reason", plan.reason},
                               {"actions", actions_of(plan)},
                               {"writes", report.written()},
                               {"ok", report.ok()}});
  }
  if (actions_of(plan) >= kManyActions) return_free_memory();
  if (!report.ok()) return failed(key, *report.error, report.failure, stop);
  const bool recovered = last_failure(key).has_value();
  set_failure(key, std::nullopt);
  queue_.forget(key);
  // The plan that went well still showed the failure: once more, without it.
  if (recovered) queue_.add(key);
  if (plan.requeue_after) {
    metrics_.requeue_after.increment();
    queue_.add_after(key, *plan.requeue_after);
  } else {
    metrics_.success.increment();
    if (options_.resync > Duration::zero()) queue_.add_after(key, options_.resync);
  }
}

void Controller::failed(const ObjectKey& key, const Error& error, const std::optional<Failure>& failure,
                        const std::stop_token& stop) {
  queue_.add_rate_limited(key);
  if (error.code() == ErrorCode::kCancelled) return;
  if (error.code() == ErrorCode::kConflict) {
    metrics_.requeue.increment();
    log_.debug("plan outdated", {{"key", key.to_string()}, {"error", error.message()}});
    return;
  }
  metrics_.error.increment();
  metrics_.errors.increment();
  if (error.code() == ErrorCode::kTimeout) metrics_.timeouts.increment();
  if (error.code() == ErrorCode::kInvalid || error.code() == ErrorCode::kInvalidArgument) {
    metrics_.terminal_errors.increment();
  }
  log_.error("reconcile failed",
             {{"key", key.to_string()}, {"error", error.message()}, {"code", to_string(error.code())}});
  if (!failure) return;
  set_failure(key, failure);
  // While the stages keep failing no plan gets as far as its status, so the failure is shown now. A status is a
  // function of what was observed: it may be written without the rest of its plan.
  const Target seen = target(key);
  const Result<Plan> next = plan({key, clock_.wall(), failure});
  if (!next) return;
  const ExecutionReport report = executor_.apply_status(*next, seen, stop);
  ledger_.record(key, report.writes, clock_.now());
  if (!report.ok() && report.failure) {
    log_.warn("failure not written to the status", {{"key", key.to_string()}, {"error", report.error->message()}});
  }
}

Target Controller::target(const ObjectKey& key) const {
  if (find_target_) {
    if (std::optional<Target> found = find_target_(key)) return *std::move(found);
  }
  const ResourceType type = reconciler_->resource();
  return {{type.api_version(), std::string(type.kind), key, {}, {}}, type, nullptr};
}

std::optional<Failure> Controller::last_failure(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto found = failures_.find(key);
  return found == failures_.end() ? std::nullopt : std::optional<Failure>(found->second);
}

void Controller::set_failure(const ObjectKey& key, std::optional<Failure> failure) {
  const MutexLock lock(mutex_);
  if (failure) {
    failures_[key] = *std::move(failure);
  } else {
    failures_.erase(key);
  }
}

}  // namespace tpuslice::runtime
