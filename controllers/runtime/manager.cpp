#include "controllers/runtime/manager.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/clock.h"
#include "api/base/pause.h"
#include "api/base/stacks.h"
#include "api/types/selector.h"
#include "controllers/runtime/memory.h"

namespace tpuslice::runtime {
namespace {

constexpr int kRoundsPerStep = 200;
constexpr int kKeysPerRound = 100;

/// How often the leader checks whether its lease has expired.
constexpr Duration kLeaseCheckInterval = std::chrono::milliseconds(500);
/// How often free memory is looked for.
constexpr Duration kTrimInterval = std::chrono::seconds(2);
constexpr double kResyncJitter = 0.1;

/// Runs `work`, and requests its stop after `limit`. Returns when it has returned.
void run_bounded(Duration limit, const std::function<void(const std::stop_token&)>& work) {
  std::stop_source finished;
  std::jthread thread([&](const std::stop_token& stop) {
    work(stop);
    finished.request_stop();
  });
  pause(limit, finished.get_token());
  thread.request_stop();
}

/// A selector for the objects with `label` that are not in `scope`, if one can express it.
std::optional<LabelSelector> not_in_scope(const WatchScope& scope, std::string_view label) {
  if (!scope.namespaces.empty() || !scope.field_selector.empty()) return std::nullopt;
  const Result<LabelSelector> selector = LabelSelector::parse(scope.label_selector);
  if (!selector) return std::nullopt;
  return selector->without({std::string(label), SelectorOperator::kExists, {}}).opposite();
}

std::unique_ptr<Parallel> make_parallel(std::size_t threads) {
  if (threads == 0) return std::make_unique<InlineParallel>();
  return std::make_unique<ThreadPool>(threads);
}

}  // namespace

Manager::Manager(Api api, Api election_api, const Clock& clock, Metrics& metrics, Logger log, ManagerOptions options)
    : api_(api),
      clock_(clock),
      metrics_(metrics),
      log_(std::move(log)),
      options_(std::move(options)),
      created_(clock.now()),
      random_(options_.seed),
      store_barrier_("store", metrics_, clock_, log_),
      thread_barrier_("thread", metrics_, clock_, log_),
      budget_(options_.memory_budget, log_),
      events_(options_.events, api_.writer, clock_, metrics_, log_),
      parallel_(make_parallel(options_.action_threads)),
      plan_writer_(api_.writer,
                   [this] { return elector_ ? std::optional(elector_->lease_left(clock_.now())) : std::nullopt; }),
      executor_barrier_("executor", metrics_, clock_, log_),
      executor_(api_.reader, plan_writer_, *parallel_, events_, executor_barrier_, options_.executor),
      upstream_(api_.reader, api_.writer, clock_, metrics_, log_),
      kept_keys_(options_.kept_keys) {
  metrics_.update_at_scrape(this, [this, gauges = budget_metrics(metrics_)] {
    gauges.bytes.set(static_cast<double>(budget_.bytes()));
    gauges.used.set(static_cast<double>(budget_.used()));
  });
  if (options_.leader_elect) {
    ElectionOptions election = options_.election;
    election.may_acquire = [this] { return may_lead(); };
    election.stands_by = true;
    elector_ = std::make_unique<LeaderElector>(std::move(election), election_api.reader, election_api.writer, clock_,
                                               random_, metrics_, log_);
    elector_->on_won([this](const Object& lease) {
      events_.record({kLeases.api_version(), std::string(kLeases.kind), lease.key(), lease.uid(), {}},
                     {plan::EventType::kNormal, "LeaderElection", "LeaderElection",
                      fmt::format("{} became leader", options_.election.identity)});
    });
  }
}

Manager::~Manager() { metrics_.stop_updates(this); }

PodStores Manager::pods_with(std::string_view label) {
  std::vector<PodStore*> stores;
  std::string selector(label);
  for (const WatchedStore& known : stores_) {
    auto* const pods = dynamic_cast<PodStore*>(known.store.get());
    if (pods == nullptr) continue;
    const std::optional<LabelSelector> others = not_in_scope(known.scope, label);
    if (!others) continue;
    selector += "," + others->to_string();
    stores.push_back(pods);
  }
  stores.push_back(&store<PodView>(kPods, {.label_selector = std::move(selector)}));
  return PodStores(std::move(stores));
}

PodStores Manager::pod_stores() const {
  std::vector<PodStore*> stores;
  for (const WatchedStore& known : stores_) {
    if (auto* const pods = dynamic_cast<PodStore*>(known.store.get())) stores.push_back(pods);
  }
  return PodStores(std::move(stores));
}

void Manager::keep_annotations(std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (std::ranges::find(kept_keys_, prefix) == kept_keys_.end()) kept_keys_.emplace_back(prefix);
  }
}

bool Manager::report_quarantined(const QuarantinedObject& object) {
  if (!leading()) return false;
  const ResourceType& type = object.type;
  const bool over_budget = object.error.reason() == kOverMemoryBudget;
  const std::string_view what = over_budget
                                    ? "The operator has no memory for the object and leaves it as it is"
                                    : "The operator cannot read this version of the object and leaves it as it is";
  events_.record({type.api_version(), std::string(type.kind), object.key, object.uid, {}},
                 {plan::EventType::kWarning, over_budget ? "MemoryBudgetExceeded" : "FailedDecode", "Decode",
                  fmt::format("{}: {}", what, object.error.message())});
  return true;
}

Controller& Manager::add(std::unique_ptr<plan::Reconciler> reconciler, ControllerOptions options) {
  controllers_.push_back(std::make_unique<Controller>(std::move(reconciler), std::move(options),
                                                      Controller::Dependencies{executor_, clock_, metrics_, log_}));
  return *controllers_.back();
}

void Manager::defer_to(UpstreamController upstream) {
  const ObjectStore& leases =
      optional_store<ObjectView>(kLeases, {.field_selector = "metadata.name=" + upstream.lease});
  upstream_.add(std::move(upstream), leases);
}

WorkloadClient& Manager::workload_client(SendToWorkload send) {
  if (workload_client_ != nullptr) {
    workload_client_->send_with(std::move(send));
  } else {
    WorkloadClientOptions options;
    options.may_send = [this](const std::string& controller) { return leading() && upstream_.may_run(controller); };
    workload_client_ =
        std::make_unique<WorkloadClient>(std::move(send), api_.reader, clock_, metrics_, std::move(options), log_);
  }
  return *workload_client_;
}

Instant Manager::step(Instant now) {
  for (int round = 0; round < kRoundsPerStep; ++round) {
    Instant due = kNever;
    if (!pass(now, due)) return due;
  }
  return now;
}

bool Manager::pass(Instant now, Instant& due) {
  const std::stop_token never;
  bool busy = false;
  const auto stepped = [&](Instant next) {
    busy = busy || next <= now;
    due = std::min(due, next);
  };
  if (elector_) stepped(elector_->step(now, never));
  if (!leading()) {
    for (const auto& controller : controllers_) controller->stand_by();
  }
  for (const WatchedStore& store : stores_) {
    for (const auto& watch : store.watches) stepped(watch->step(now, Duration::zero(), never));
  }
  if (!upstream_.empty()) stepped(upstream_.step(now, never));
  for (const auto& controller : controllers_) {
    if (!controller->synced()) continue;
    if (!upstream_.may_run(controller->name())) {
      forget_requests(*controller);
      continue;
    }
    for (int keys = 0; keys < kKeysPerRound && leading(); ++keys) {
      if (!controller->step(now, never)) break;
      busy = true;
    }
    if (leading()) stepped(controller->next_due());
  }
  if (workload_client_ != nullptr && leading()) {
    while (workload_client_->step(now, never)) busy = true;
    stepped(workload_client_->next_due());
  }
  stepped(events_.step(now, never));
  return busy;
}

void Manager::run(const std::stop_token& stop) {
  std::stop_source quit_election;
  std::stop_source quit;  // of watches and events
  std::vector<std::jthread> background;
  for (const WatchedStore& store : stores_) {
    for (const auto& watch : store.watches) {
      background.emplace_back([this, &watch, token = quit.get_token()] {
        name_thread("watch " + std::string(watch->type().plural));
        thread_barrier_.keep_running(token, [&] { watch->run(token, [this] { notify(); }); });
      });
    }
  }
  background.emplace_back([this, token = quit.get_token()] {
    name_thread("events");
    thread_barrier_.keep_running(token, [&] { events_.run(token); });
  });
  if (!upstream_.empty()) {
    background.emplace_back([this, token = quit.get_token()] {
      name_thread("upstream");
      thread_barrier_.keep_running(token, [&] { upstream_.run(token, [this] { notify(); }); });
    });
  }
  std::jthread election;
  if (elector_) {
    election = std::jthread([this, token = quit_election.get_token()] {
      name_thread("election");
      thread_barrier_.keep_running(token, [&] { elector_->run(token, [this] { notify(); }); });
    });
  }

  run_controllers(stop);

  quit.request_stop();
  background.clear();
  run_bounded(options_.shutdown_timeout, [this](const std::stop_token& enough) {
    while (!enough.stop_requested() && events_.step(clock_.now(), enough) <= clock_.now()) {
    }
  });
  quit_election.request_stop();
  if (election.joinable()) election.join();
  if (elector_) {
    run_bounded(options_.shutdown_timeout, [this](const std::stop_token& enough) { elector_->release(enough); });
  }
}

void Manager::run_controllers(const std::stop_token& stop) {
  RunningControllers running;
  Workers requests;  // Threads of the workload client.
  FreeMemoryReturner free_memory;
  Instant trim_due = clock_.now() + kTrimInterval;
  Instant resync_due = clock_.now() + random_.jitter(options_.resync, kResyncJitter);
  while (!stop.stop_requested()) {
    std::uint64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      seen = changes_;
    }
    if (!leading()) stop_leading(running, requests);
    start_and_stop(running);
    if (!running.empty() && requests.threads.empty()) start_workload_client(requests);
    if (const Instant now = clock_.now(); now >= trim_due) {
      free_memory.step();
      trim_due = now + kTrimInterval;
    }
    if (const Instant now = clock_.now(); now >= resync_due) {
      for (const auto& controller : controllers_) controller->resync();
      resync_due = now + random_.jitter(options_.resync, kResyncJitter);
    }
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, stop, kLeaseCheckInterval, [&]() TPUSLICE_REQUIRES(mutex_) { return changes_ != seen; });
  }
  requests.halt.request_stop();
  for (auto& [controller, workers] : running) workers.halt.request_stop();
  // Without the lease nothing may be written; otherwise running plans may finish.
  if (leading()) {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, options_.stop_grace, [this]() TPUSLICE_REQUIRES(mutex_) { return running_ == 0; });
  }
  for (auto& [controller, workers] : running) workers.cancel.request_stop();
}

void Manager::stop_leading(RunningControllers& running, Workers& requests) {
  if (running.empty() && requests.threads.empty()) return;
  {
    const MutexLock lock(mutex_);
    lost_since_ = clock_.now();
  }
  requests.halt.request_stop();
  for (auto& [controller, workers] : running) {
    workers.halt.request_stop();
    workers.cancel.request_stop();
  }
  running.clear();
  requests = Workers();
  for (const auto& controller : controllers_) {
    controller->stand_by();
    forget_requests(*controller);
  }
  log_.info("controllers stopped; this replica stands by");
  const MutexLock lock(mutex_);
  lost_since_ = std::nullopt;
}

void Manager::start_and_stop(RunningControllers& running) {
  for (const auto& controller : controllers_) {
    const auto found = running.find(controller.get());
    if (!upstream_.may_run(controller->name()) || !controller->synced()) {
      if (found == running.end()) continue;
      found->second.halt.request_stop();
      found->second.cancel.request_stop();
      running.erase(found);
      forget_requests(*controller);
      log_.info("controller stopped", {{"controller", controller->name()}});
      continue;
    }
    if (found != running.end() || !leading()) continue;
    log_.info("controller started", {{"controller", controller->name()}, {"workers", controller->workers()}});
    start_workers(*controller, running[controller.get()]);
  }
}

void Manager::start_workers(Controller& controller, Workers& workers) {
  for (int i = 0; i < controller.workers(); ++i) {
    {
      const MutexLock lock(mutex_);
      ++running_;
    }
    workers.threads.emplace_back(
        [this, &controller, halt = workers.halt.get_token(), cancel = workers.cancel.get_token()] {
          name_thread(controller.name());
          thread_barrier_.keep_running(halt, [&] { controller.run(halt, cancel); });
          {
            const MutexLock lock(mutex_);
            --running_;
          }
          changed_.notify_all();
        });
  }
}

void Manager::start_workload_client(Workers& workers) {
  if (workload_client_ == nullptr) return;
  for (int i = 0; i < workload_client_->workers(); ++i) {
    workers.threads.emplace_back([this, halt = workers.halt.get_token()] {
      name_thread("requests");
      thread_barrier_.keep_running(halt, [&] { workload_client_->run(halt); });
    });
  }
}

void Manager::forget_requests(const Controller& controller) {
  if (workload_client_ != nullptr) workload_client_->forget(controller.name());
}

void Manager::notify() {
  {
    const MutexLock lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

bool Manager::may_lead() const {
  {
    const MutexLock lock(mutex_);
    if (running_ > 0) return false;  // Workers of an earlier term.
  }
  if (ready()) return true;
  if (clock_.now() - created_ < options_.sync_timeout) return false;
  log_.warn("stores are not synced in time; trying to lead without them",
            {{"resources", fmt::format("{}", fmt::join(not_synced(), ", "))}});
  return true;
}

bool Manager::leading() const { return !elector_ || elector_->leading(clock_.now()); }

}  // namespace tpuslice::runtime
