// Manager: the operator. Owns stores, watches, controllers, the elector and the event recorder, and runs them.
//
//   Manager manager(api, election_api, clock, metrics, log, {.election = {.identity = "pod-a_1"}});
//   PodStore& pods = manager.pods({.label_selector = "ray.io/cluster"}, owner_index<PodView>);
//   ObjectStore& clusters = manager.objects(kRayClusters);
//   Controller& controller = manager.add(make_raycluster_reconciler(clusters, pods));
//   controller.watches(clusters);
//   controller.watches(pods);
//   Status ended = manager.run(stop);
#pragma once

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/base/random.h"
#include "api/client/client.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/executor.h"
#include "controllers/runtime/fenced_writer.h"
#include "controllers/runtime/leader_election.h"
#include "controllers/runtime/parallel.h"
#include "controllers/runtime/pod_stores.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"
#include "controllers/runtime/watch_machine.h"

namespace tpuslice::runtime {

/// The API server, read and written; borrowed.
struct Api {
  client::Reader& reader;
  client::Writer& writer;

  Api(client::Client& client) : reader(client), writer(client) {}  // NOLINT(google-explicit-constructor)
  Api(client::Reader& api_reader, client::Writer& api_writer) : reader(api_reader), writer(api_writer) {}
};

struct ManagerOptions {
  bool leader_elect = true;  ///< False: acts at once. Only where nobody else can.
  ElectionOptions election;
  EventRecorderOptions events;
  ExecutorOptions executor;
  WatchMachineOptions watch;
  std::size_t action_threads = 16;  ///< Shared by all workers; 0: actions run one after another, in order.
  std::uint64_t seed = 1;           ///< Of every jitter.
  Duration stop_grace = std::chrono::milliseconds(2500);  ///< How long writes under way may take after stop.
};

/// Set up from one thread; then either step() from one thread or run(). ready() and healthy() from any.
///
/// Only the leader's controllers act; the others keep their stores warm. A controller acts once all of its stores are
/// synced: a kind whose CRD is not installed holds back its own controllers and nobody else's.
class Manager {
 public:
  /// `election_api` is a client of its own (see LeaderElector); all arguments outlive the manager.
  Manager(Api api, Api election_api, const Clock& clock, Metrics& metrics, Logger log, ManagerOptions options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // A store that an earlier call made for the same scope, or for everything, serves this one, too: it may hold more
  // than was asked for.
  PodStore& pods(WatchScope scope = {}, PodStore::Index index = {});
  /// Pods with `label`, of all namespaces. What an earlier pods() brings anyway, of all namespaces and by one
  /// requirement on another label (beside `label`, or alone), is looked up in its store and not watched a second time:
  /// such stores may hold pods without `label`, too, of which `index` says nothing.
  PodStores pods_with(std::string_view label, const PodStore::Index& index);
  NodeStore& nodes(WatchScope scope = {}, NodeStore::Index index = {});
  JobStore& jobs(WatchScope scope = {}, JobStore::Index index = {});
  StatefulSetStore& stateful_sets(WatchScope scope = {}, StatefulSetStore::Index index = {});
  ServiceStore& services(WatchScope scope = {}, ServiceStore::Index index = {});
  ObjectStore& objects(ResourceType type, WatchScope scope = {}, ObjectStore::Index index = {});

  /// The returned controller has still to be told what it watches.
  Controller& add(std::unique_ptr<Reconciler> reconciler, ControllerOptions options = {});

  /// Everything that is due, until nothing is left or too many rounds have passed: elector, watches, controllers,
  /// events. Returns when something is due next by the clock; a watch event may come sooner.
  Instant step(Instant now);
  /// Runs until `stop`, or until the lease is lost: then the process has to end.
  ///
  /// Starts with the watches; the election waits for no one, the controllers for both. Stops in the opposite order: no
  /// new key, what is under way within `stop_grace`, then watches, events, and the lease last. Errors: Unavailable when
  /// the lease was lost.
  Status run(const std::stop_token& stop);

  /// Every watch holds its first list, or waits for its CRD.
  [[nodiscard]] bool ready() const;
  /// False for a leader that can neither renew nor end.
  [[nodiscard]] bool healthy() const;
  [[nodiscard]] bool leading() const;
  [[nodiscard]] const LeaderElector* elector() const { return elector_.get(); }
  [[nodiscard]] EventSink& events() { return events_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Controller>>& controllers() const { return controllers_; }

 private:
  template <typename View>
  struct Watched {
    WatchScope scope;
    std::unique_ptr<Store<View>> store;
  };
  template <typename View>
  Store<View>& add_store(std::vector<Watched<View>>& stores, ResourceType type, WatchScope scope,
                         typename Store<View>::Index index);
  /// One pass over all; true if anything was done.
  bool pass(Instant now, Instant& due);
  void notify() TPUSLICE_EXCLUDES(mutex_);
  /// Starts each controller when its time has come; returns when all have stopped.
  void run_controllers(const std::stop_token& stop);
  void start_workers(Controller& controller, const std::stop_token& halt, const std::stop_token& cancel,
                     std::vector<std::jthread>& workers) TPUSLICE_EXCLUDES(mutex_);

  const Api api_;
  const Clock& clock_;
  Metrics& metrics_;
  const Logger log_;
  const ManagerOptions options_;
  Random random_;
  EventRecorder events_;
  const std::unique_ptr<Parallel> parallel_;
  FencedWriter plan_writer_;  ///< Of the plans; the lease and the events, which tell of what was done, have api_'s.
  const Executor executor_;
  std::unique_ptr<LeaderElector> elector_;  ///< Null without election.
  std::vector<Watched<PodView>> pods_;
  std::vector<Watched<NodeView>> nodes_;
  std::vector<Watched<JobView>> jobs_;
  std::vector<Watched<StatefulSetView>> stateful_sets_;
  std::vector<Watched<ServiceView>> services_;
  std::vector<Watched<ObjectView>> objects_;
  std::vector<std::unique_ptr<WatchMachine>> watches_;
  std::vector<std::unique_ptr<Controller>> controllers_;

  Mutex mutex_;
  ConditionVariable changed_;
  std::uint64_t changes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::size_t running_ TPUSLICE_GUARDED_BY(mutex_) = 0;  ///< Worker threads that have not returned.
};

}  // namespace tpuslice::runtime
