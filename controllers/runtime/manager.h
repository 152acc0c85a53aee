// Manager: the operator. Owns stores, watches, controllers, the elector and the event recorder, and runs them.
//
//   Manager manager(api, election_api, clock, metrics, log, {.election = {.identity = "pod-a_1"}});
//   ObjectStore& clusters = manager.store<ObjectView>(kRayClusters);
//   PodStore& pods = manager.store<PodView>(kPods, {.label_selector = "ray.io/cluster"});
//   const Index<PodView> pods_by_owner = pods.add_index(owner_uid<PodView>);
//   Controller& controller = manager.add(std::make_unique<MyReconciler>(clusters, pods_by_owner));
//   controller.watches(clusters);
//   controller.watches(pods);
//   manager.run(stop);
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/exception_barrier.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/base/random.h"
#include "api/client/client.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/executor.h"
#include "controllers/runtime/fenced_writer.h"
#include "controllers/runtime/leader_election.h"
#include "controllers/runtime/memory_limit.h"
#include "controllers/runtime/parallel.h"
#include "controllers/runtime/upstream_controllers.h"
#include "controllers/runtime/watch/memory_budget.h"
#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/watch/watch_machine.h"
#include "controllers/runtime/workload_client.h"

namespace tpuslice::runtime {

/// Access to the API server; borrowed.
struct Api {
  client::Reader& reader;
  client::Writer& writer;

  Api(client::Client& client) : reader(client), writer(client) {}  // NOLINT(google-explicit-constructor)
  Api(client::Reader& api_reader, client::Writer& api_writer) : reader(api_reader), writer(api_writer) {}
};

struct ManagerOptions {
  bool leader_elect = true;  ///< False: leads at once. Only for a single replica.
  ElectionOptions election;
  EventRecorderOptions events;
  ExecutorOptions executor;
  WatchMachineOptions watch;
  std::size_t action_threads = 16;  ///< Shared by all workers; 0: actions run one after another, in order.
  std::size_t memory_budget = kDefaultMemoryBudget;  ///< Bytes that the objects in all stores may take.
  KeptKeys kept_keys = {};                           ///< What views keep beside keep_annotations().
  std::uint64_t seed = 1;                            ///< Seed of all jitter.
  /// Every object is planned again after this long, or up to a tenth longer. Finds what a missed event has hidden.
  Duration resync = std::chrono::hours(10);
  /// How long running plans may take after stop. With twice `shutdown_timeout`, less than the pod's grace period.
  Duration stop_grace = std::chrono::seconds(10);
  Duration shutdown_timeout = std::chrono::seconds(2);  ///< Then for the last events, and for releasing the lease.
  /// A replica leads before ready() only if that takes longer than this: then the controllers whose stores are synced
  /// run, as one resource that cannot be listed must not stop all of them.
  Duration sync_timeout = std::chrono::minutes(1);
};

/// Set up by one thread, then either stepped by one thread or run(). ready() and healthy() are thread-safe.
///
/// Only the leader's controllers run; other replicas keep their stores current. A replica does not try to lead before
/// its stores are synced (ManagerOptions::sync_timeout). A controller runs while all its stores are synced, so a
/// missing CRD stops only the controllers that watch it; and while no upstream controller serves its kind (defer_to()).
/// Of several namespaces that are watched, each is served while the stores are synced for it.
class Manager {
 public:
  /// `election_api` is a client of its own (see LeaderElector); all arguments outlive the manager.
  Manager(Api api, Api election_api, const Clock& clock, Metrics& metrics, Logger log, ManagerOptions options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// The store of `type` with all objects of `scope`. If an earlier call made one for the same scope, or for all
  /// objects, that one is returned: a store may hold more than was asked for. Each of several namespaces has a watch.
  template <typename View>
  Store<View>& store(const ResourceType& type, const WatchScope& scope = {});
  /// The same as store(), for a type that only some objects need: ready() does not wait for it, so that an operator
  /// without the permission to watch it serves the others. Readers must check synced() first. See
  /// Controller::watches_optional().
  template <typename View>
  Store<View>& optional_store(const ResourceType& type, const WatchScope& scope = {});
  /// Stores that together hold the pods with `label` of all namespaces. Reuses the pod stores of all namespaces that
  /// earlier calls made with one requirement on another label, alone or beside `label`, and adds a store for the
  /// remaining pods with `label`: no pod is watched twice if the controllers that ask for their pods by another label
  /// are added before. The stores may also hold pods without `label`.
  PodStores pods_with(std::string_view label);
  /// All stores of pods that earlier calls made.
  [[nodiscard]] PodStores pod_stores() const;
  /// Views keep annotations, and those of pods and Jobs also labels, whose keys begin with one of `prefixes`; those of
  /// several calls are combined.
  void keep_annotations(std::initializer_list<std::string_view> prefixes);

  /// The caller adds the stores that the returned controller watches.
  Controller& add(std::unique_ptr<plan::Reconciler> reconciler, ControllerOptions options = {});

  /// Controllers of `upstream.controllers` do not run while the upstream controller does. Before run() or step().
  void defer_to(UpstreamController upstream);
  [[nodiscard]] UpstreamControllers& upstream() { return upstream_; }
  [[nodiscard]] const UpstreamControllers& upstream() const { return upstream_; }

  /// The client for servers in the pods of workloads, and for events, which all controllers share. `send` is that of
  /// the first call that has one. Requests that may change something are sent by the leader only, and not for
  /// controllers that do not run.
  WorkloadClient& workload_client(SendToWorkload send = {});

  /// Does all due work of elector, watches, controllers and events, for a bounded number of rounds. Returns when the
  /// next work is due by the clock; a watch event may come sooner.
  Instant step(Instant now);
  /// Runs until `stop`.
  ///
  /// Starts watches and election; controllers start when this replica leads and their stores are synced, and stop when
  /// it has lost its lease. Then it stands by, as a replica that never led. Stops in this order: no new key, running
  /// plans within `stop_grace`, watches, events, and the lease last.
  void run(const std::stop_token& stop);

  /// Every store that is not optional is synced, or its CRD is not installed.
  [[nodiscard]] bool ready() const;
  /// The resources for which ready() waits.
  [[nodiscard]] std::vector<std::string> not_synced() const;
  /// What is no longer watched, and for how long: "pods for 75 s". Thread-safe.
  [[nodiscard]] std::vector<std::string> broken_watches() const;
  /// What the controllers know of the keys of the query. Thread-safe.
  [[nodiscard]] std::vector<KeyReport> report(const KeyQuery& query) const;
  /// False for a replica that lost its lease and has not stopped its controllers within the duration of a lease.
  [[nodiscard]] bool healthy() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] bool leading() const;
  [[nodiscard]] EventSink& events() { return events_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Controller>>& controllers() const { return controllers_; }

 private:
  struct WatchedStore {
    WatchScope scope;
    std::unique_ptr<AnyStore> store;
    bool required = true;
    std::vector<std::unique_ptr<WatchMachine>> watches = {};
  };
  template <typename View>
  Store<View>& find_or_add_store(const ResourceType& type, const WatchScope& scope, bool required);
  /// Records an event for an object that the store does not hold whole, if this replica leads.
  bool report_quarantined(const QuarantinedObject& object);
  /// One round; true if any work was done.
  bool pass(Instant now, Instant& due);
  /// Whether this replica may acquire the lease.
  [[nodiscard]] bool may_lead() const;
  void notify() TPUSLICE_EXCLUDES(mutex_);
  /// The workers of a controller. The destructor joins them.
  struct Workers {
    std::stop_source halt;    ///< Take no new key.
    std::stop_source cancel;  ///< Stop running plans.
    std::vector<std::jthread> threads;
  };
  using RunningControllers = std::map<const Controller*, Workers>;
  /// Starts each controller when it may run, and stops it when it may not; returns when all have stopped.
  void run_controllers(const std::stop_token& stop);
  /// After the lease was lost: stops everything that only a leader does.
  void stop_leading(RunningControllers& running, Workers& requests) TPUSLICE_EXCLUDES(mutex_);
  void start_and_stop(RunningControllers& running) TPUSLICE_EXCLUDES(mutex_);
  void start_workers(Controller& controller, Workers& workers) TPUSLICE_EXCLUDES(mutex_);
  /// Drops the requests that a controller which does not run has planned.
  void forget_requests(const Controller& controller);
  void start_workload_client(Workers& workers);

  const Api api_;
  const Clock& clock_;
  Metrics& metrics_;
  const Logger log_;
  const ManagerOptions options_;
  const Instant created_;
  Random random_;
  const ExceptionBarrier store_barrier_;
  const ExceptionBarrier thread_barrier_;
  DeadStreams dead_streams_;
  MemoryBudget budget_;
  EventRecorder events_;
  const std::unique_ptr<Parallel> parallel_;
  FencedWriter plan_writer_;  ///< For plans. The lease, and events about completed writes, use api_'s writer.
  const ExceptionBarrier executor_barrier_;
  const Executor executor_;
  std::unique_ptr<LeaderElector> elector_;  ///< Null without election.
  UpstreamControllers upstream_;
  std::unique_ptr<WorkloadClient> workload_client_;  ///< Null if no controller sends requests to workloads.
  KeptKeys kept_keys_;
  std::vector<WatchedStore> stores_;
  std::vector<std::unique_ptr<Controller>> controllers_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::uint64_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::size_t running_ TPUSLICE_GUARDED_BY(mutex_) = 0;  ///< Worker threads that have not returned.
  /// The time since which this replica does not lead although workers run; nothing while it leads, or once they have
  /// ended.
  std::optional<Instant> lost_since_ TPUSLICE_GUARDED_BY(mutex_);
};

template <typename View>
Store<View>& Manager::store(const ResourceType& type, const WatchScope& scope) {
  return find_or_add_store<View>(type, scope, true);
}

template <typename View>
Store<View>& Manager::optional_store(const ResourceType& type, const WatchScope& scope) {
  return find_or_add_store<View>(type, scope, false);
}

template <typename View>
Store<View>& Manager::find_or_add_store(const ResourceType& type, const WatchScope& scope, bool required) {
  for (WatchedStore& known : stores_) {
    auto* const store = dynamic_cast<Store<View>*>(known.store.get());
    if (store != nullptr && store->type() == type && (known.scope == scope || known.scope == WatchScope{})) {
      known.required = known.required || required;
      return *store;
    }
  }
  auto created = std::make_unique<Store<View>>(type, scope.namespaces);
  Store<View>& store = *created;
  store.shield_with(store_barrier_);
  WatchedStore& watched = stores_.emplace_back(WatchedStore{scope, std::move(created), required});
  for (const WatchScope& each : scope.watches()) {
    const std::string part = scope.namespaces.size() > 1 ? each.namespace_name() : std::string();
    StoreMetrics metrics =
        store_metrics(metrics_, {type.resource(), each.label_selector, each.namespace_name(), each.field_selector});
    auto sink = std::make_unique<StoreSink<View>>(store, kept_keys_, &budget_, metrics, part);
    watched.watches.push_back(std::make_unique<WatchMachine>(
        type, each, std::move(sink), options_.watch,
        WatchMachine::Dependencies{api_.reader, clock_, random_, metrics_, log_, &dead_streams_}));
    watched.watches.back()->on_quarantine(
        [this](const QuarantinedObject& object) { return report_quarantined(object); });
  }
  return store;
}

}  // namespace tpuslice::runtime
