// Controller: runs one reconciler. Queue -> plan -> execute -> queue.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/base/exception_barrier.h"
#include "api/base/log.h"
#include "api/base/mutex.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/executor.h"
#include "controllers/runtime/key_report.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/object_counters.h"
#include "controllers/runtime/recent_plans.h"
#include "controllers/runtime/reconcile_log.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/work_queue.h"
#include "controllers/runtime/workload_client.h"
#include "controllers/runtime/write_backoff.h"
#include "controllers/runtime/write_ledger.h"

namespace tpuslice::runtime {

/// The target of a plan for the object that `view` was decoded from.
template <typename View>
[[nodiscard]] Target target_of(const ResourceType& type, const std::shared_ptr<const View>& view) {
  Target target{{type.api_version(), std::string(type.kind), view->key, view->uid, view->resource_version}, type, {}};
  if constexpr (requires { view->object(); }) target.status = [view] { return plan::status_of(view->object()); };
  return target;
}

struct ControllerOptions {
  int workers = 4;                                     ///< Keys planned and executed at a time.
  Duration lag_poll = std::chrono::milliseconds(100);  ///< Retry interval of a key whose writes are unseen.
  Duration write_expiry = std::chrono::seconds(30);    ///< How long an unseen write holds its key.
  /// Retry interval after a terminal error, which only a change of the object, or of what admits it, can resolve. A
  /// change of the object is planned at once; requeue_after of its plan may be shorter.
  Duration terminal_retry = std::chrono::minutes(10);
  /// Shortest time until the requeue of a plan that failed: deadlines are met, while the back-off may be longer.
  Duration min_failed_requeue = std::chrono::seconds(10);
  /// Shortest time between two writes of a status of which only counts changed. The first is written at once.
  Duration counts_interval = std::chrono::seconds(1);
  /// For plans with writes to objects of many owners, and without a status: a write that fails backs off alone, and its
  /// key is neither delayed nor has a last failure. Several controllers may share it.
  std::shared_ptr<WriteBackoff> write_backoff = nullptr;
  /// Counters that plans of the reconciler increment: zero from the start. It is a bug to increment another one, which
  /// is logged.
  std::span<const plan::CounterDefinition* const> counters = {};
  /// Counters whose names begin so are neither registered nor incremented. Empty: none.
  std::string_view muted_counters = {};
  /// Called for the interruptions of plans, on the threads of the workers. Null: they are dropped.
  std::function<void(const plan::Interruption&)> on_interruption = nullptr;
  WorkQueueOptions queue;  ///< The name is the reconciler's.
};

/// watches() before the first step; then thread-safe. step() may run on several threads.
///
/// Nothing is queued before the first step, which adds the keys of all objects in the stores: a replica that does not
/// lead has no queue that grows, and a new leader plans no object that is gone.
///
/// A key is not planned before the stores show its last writes. After a failed plan, the key is planned again with the
/// failure as an input: the status of that plan is written at once, the rest after a back-off.
class Controller {
 public:
  struct Dependencies {
    const Executor& executor;
    const Clock& clock;
    Metrics& metrics;
    Logger log;
  };
  Controller(std::unique_ptr<plan::Reconciler> reconciler, ControllerOptions options, Dependencies dependencies);

  /// The keys to reconcile when an object changes; called with the object before and after the change.
  template <typename View>
  using KeyFunction = std::function<std::vector<ObjectKey>(const View&)>;

  /// Reconciles when an object of `store` changes. Without `keys`: an object of the reconciled kind itself, of any
  /// other type its controller owner if that is of the reconciled kind. The store outlives the controller.
  template <typename View>
  void watches(Store<View>& store, KeyFunction<View> keys = {});

  /// Does what watches() does for children of a type that only some objects have: the controller does not wait until
  /// the store is synced.
  template <typename View>
  void watches_optional(Store<View>& store, KeyFunction<View> keys = {});

  /// Sends the requests of plans through `client`, and reconciles an object when an answer to one of its requests
  /// changes. `client` outlives the controller.
  void sends_requests(WorkloadClient& client);

  [[nodiscard]] std::string name() const { return reconciler_->name(); }
  [[nodiscard]] const plan::Reconciler& reconciler() const { return *reconciler_; }
  [[nodiscard]] int workers() const { return options_.workers; }
  /// All watched stores that are not optional hold their first list, of a store of several namespaces that of one. Keys
  /// of a namespace whose lists are missing are not planned.
  [[nodiscard]] bool synced() const;

  /// Reconciles one key, if one is due. False if none was.
  bool step(Instant now, const std::stop_token& stop);
  /// Reports of the key of the query, or of its namespace's keys that are in the queue or were planned lately.
  [[nodiscard]] std::vector<KeyReport> report(const KeyQuery& query) const;
  /// When step() will have a key.
  [[nodiscard]] Instant next_due() const { return queue_.next_due(); }
  /// One worker: processes keys until `stop`; `cancel` also stops the plan that is being executed.
  void run(const std::stop_token& stop, const std::stop_token& cancel);
  /// Adds the keys of all objects in the stores, if the first step was made.
  void resync();
  /// Plans the key as if an object had changed, if the first step was made: for changes of what no store holds.
  void add(const ObjectKey& key) {
    if (started_) queue_.add(key);
  }
  /// Queues no further keys until the next step. While no worker runs.
  void stand_by() { started_ = false; }

 private:
  void start();
  /// Reconciles; an exception is a failure of the key.
  void process(const ObjectKey& key, Instant now, const std::stop_token& stop);
  /// The controller owner of an object of another type, if it is of the reconciled kind.
  [[nodiscard]] std::vector<ObjectKey> owner_of(const ObjectKey& child,
                                                const std::optional<ControllerRef>& controller) const;
  void reconcile(const ObjectKey& key, Instant now, const std::stop_token& stop);
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const;
  void measure(const plan::Plan& plan, const ExecutionReport& report) const;
  void settle(const ObjectKey& key, const plan::Plan& plan, const ExecutionReport& report, ReconcileLog& log,
              const std::stop_token& stop);
  void failed(const ObjectKey& key, const Error& error, const std::optional<plan::Failure>& failure, ReconcileLog& log,
              const std::stop_token& stop);
  /// Records plans whose writes back off one by one. True if some have failed: the key is planned again when they are
  /// due.
  bool record_writes(const ObjectKey& key, const plan::Plan& plan, const ExecutionReport& report, ReconcileLog& log);
  void report_error(const Error& error, ReconcileLog& log);
  [[nodiscard]] Target target(const ObjectKey& key) const;
  /// If only counts differ and the last were written within counts_interval, drops the status and requeues the key.
  void limit_counts(const ObjectKey& key, Instant now, plan::Plan& plan) const TPUSLICE_EXCLUDES(mutex_);
  /// None: the object does not exist.
  void set_counts_written(const ObjectKey& key, std::optional<Instant> time) TPUSLICE_EXCLUDES(mutex_);
  /// Adds the keys to the queue when an object of the store changes, and the store to the write ledger.
  template <typename View>
  void listen(Store<View>& store, KeyFunction<View> keys);
  template <typename View>
  void add_keys(const KeyFunction<View>& keys, const View& view);
  [[nodiscard]] std::optional<plan::Failure> last_failure(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  void set_failure(const ObjectKey& key, std::optional<plan::Failure> failure) TPUSLICE_EXCLUDES(mutex_);

  const std::unique_ptr<plan::Reconciler> reconciler_;
  const ControllerOptions options_;
  const Executor& executor_;
  const Clock& clock_;
  Metrics& registry_;
  const std::map<std::pair<std::string, MetricLabels>, Counter*> counters_;  ///< By name and labels.
  mutable ObjectCounters object_counters_;
  const ControllerMetrics metrics_;
  const Logger log_;
  const ExceptionBarrier barrier_;
  WorkQueue queue_;
  std::atomic<bool> started_ = false;           ///< Changes are queued.
  std::vector<std::function<void()>> add_all_;  ///< One for each store: adds the keys of its objects.
  WriteLedger ledger_;
  RecentPlans recent_plans_;
  std::vector<const AnyStore*> stores_;                                 ///< Those that are not optional.
  WorkloadClient* workloads_ = nullptr;                                 ///< Null: plans have no requests.
  std::function<std::optional<Target>(const ObjectKey&)> find_target_;  ///< In the store of the reconciled kind.

  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, plan::Failure> failures_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<ObjectKey, Instant> counts_written_ TPUSLICE_GUARDED_BY(mutex_);  ///< Times of objects that exist.
};

template <typename View>
void Controller::watches(Store<View>& store, KeyFunction<View> keys) {
  const bool reconciled = store.type() == reconciler_->resource();
  if (!keys && reconciled) keys = [](const View& view) { return std::vector<ObjectKey>{view.key}; };
  listen(store, std::move(keys));
  stores_.push_back(&store);
  if (reconciled && !find_target_) {
    find_target_ = [&store](const ObjectKey& key) -> std::optional<Target> {
      const auto view = store.get(key);
      if (!view) return std::nullopt;
      return target_of(store.type(), view);
    };
  }
}

template <typename View>
void Controller::watches_optional(Store<View>& store, KeyFunction<View> keys) {
  listen<View>(store, std::move(keys));
}

template <typename View>
void Controller::listen(Store<View>& store, KeyFunction<View> keys) {
  if (!keys) keys = [this](const View& view) { return owner_of(view.key, view.controller); };
  const auto shared = std::make_shared<const KeyFunction<View>>(std::move(keys));
  store.add_listener([this, shared](const auto& before, const auto& after) {
    // The change is in the store already, so start() finds it.
    if (!started_) return;
    if (before) add_keys(*shared, *before);
    if (after) add_keys(*shared, *after);
  });
  add_all_.push_back([this, shared, &store] {
    for (const auto& view : store.list()) add_keys(*shared, *view);
  });
  ledger_.add_store(store);
}

template <typename View>
void Controller::add_keys(const KeyFunction<View>& keys, const View& view) {
  (void)barrier_.run([&] {
    for (const ObjectKey& key : keys(view)) queue_.add(key);
  });
}

}  // namespace tpuslice::runtime
