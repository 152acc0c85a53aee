// Controller: one reconciler, run. Queue -> plan -> execute -> queue.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/log.h"
#include "api/base/mutex.h"
#include "controllers/runtime/executor.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"
#include "controllers/runtime/work_queue.h"
#include "controllers/runtime/write_ledger.h"

namespace tpuslice::runtime {

struct ControllerOptions {
  int workers = 4;                                     ///< Keys planned and executed at a time.
  Duration lag_poll = std::chrono::milliseconds(100);  ///< How soon a key whose writes are unseen is looked at again.
  Duration write_expiry = std::chrono::seconds(30);    ///< How long an unseen write holds its key back.
  Duration resync = Duration::zero();                  ///< Plan every object again this often; zero: never.
  WorkQueueOptions queue;                              ///< The name is the reconciler's.
};

/// watches() before the first step; then thread-safe. step() may run on several threads.
///
/// A key is not planned before the stores show what was last written for it. A failed plan is followed by one of the
/// same key that knows the failure; of that only the status is written at once, the rest after a back-off.
class Controller {
 public:
  struct Dependencies {
    const Executor& executor;
    const Clock& clock;
    Metrics& metrics;
    Logger log;
  };
  Controller(std::unique_ptr<Reconciler> reconciler, ControllerOptions options, Dependencies dependencies);

  /// The keys a changed object concerns; asked for what it was before and what it is after.
  template <typename View>
  using KeyMap = std::function<std::vector<ObjectKey>(const View&)>;

  /// Reconciles when an object of `store` changes. Without `keys`: an object of the reconciled kind concerns itself,
  /// any other its controller if that is of the reconciled kind. The store outlives the controller.
  template <typename View>
  void watches(Store<View>& store, KeyMap<View> keys = {});

  void enqueue(const ObjectKey& key) { queue_.add(key); }
  [[nodiscard]] std::string name() const { return reconciler_->name(); }
  [[nodiscard]] const Reconciler& reconciler() const { return *reconciler_; }
  [[nodiscard]] int workers() const { return options_.workers; }
  /// All watched stores hold their first list.
  [[nodiscard]] bool synced() const;

  /// Reconciles one key, if one is due. False if none was.
  bool step(Instant now, const std::stop_token& stop);
  /// When step() will have something to do.
  [[nodiscard]] Instant next_due() const { return queue_.next_due(); }
  /// One worker: takes keys until `stop`; `cancel` cuts short what is being executed.
  void run(const std::stop_token& stop, const std::stop_token& cancel);

 private:
  void reconcile(const ObjectKey& key, Instant now, const std::stop_token& stop);
  [[nodiscard]] Result<Plan> plan(const ReconcileInput& input) const;
  void measure(const Plan& plan, const ExecutionReport& report) const;
  void settle(const ObjectKey& key, const Plan& plan, const ExecutionReport& report, const std::stop_token& stop);
  void failed(const ObjectKey& key, const Error& error, const std::optional<Failure>& failure,
              const std::stop_token& stop);
  [[nodiscard]] Target target(const ObjectKey& key) const;
  [[nodiscard]] std::optional<Failure> last_failure(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  void set_failure(const ObjectKey& key, std::optional<Failure> failure) TPUSLICE_EXCLUDES(mutex_);

  const std::unique_ptr<Reconciler> reconciler_;
  const ControllerOptions options_;
  const Executor& executor_;
  const Clock& clock_;
  Metrics& registry_;
  const ControllerMetrics metrics_;
  const Logger log_;
  WorkQueue queue_;
  WriteLedger ledger_;
  std::vector<std::function<bool()>> synced_;
  std::function<std::optional<Target>(const ObjectKey&)> find_target_;  ///< In the store of the reconciled kind.

  mutable Mutex mutex_;
  std::unordered_map<ObjectKey, Failure> failures_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
