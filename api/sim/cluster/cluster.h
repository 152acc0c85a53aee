// Cluster: a whole Kubernetes cluster in one process: API server, scheduler, kubelets, controllers and TPU node pools.
//
//   FakeClock clock;
//   Cluster cluster(clock, {.seed = 7});
//   auto transport = cluster.transport();
//   cluster.apply_yaml(manifest);
//   cluster.run_for(clock, 30s, [&](Instant now) { return operator_under_test.step(now); });
//
// Nothing happens by itself: step() does what is due at this instant, next_due() says when more will be. Equal seeds
// and equal calls give equal histories.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/transport.h"
#include "api/sim/api_server.h"
#include "api/sim/cluster/endpoints.h"
#include "api/sim/cluster/finished_jobs.h"
#include "api/sim/cluster/garbage_collector.h"
#include "api/sim/cluster/job_controller.h"
#include "api/sim/cluster/kubelet.h"
#include "api/sim/cluster/namespaces.h"
#include "api/sim/cluster/node_lifecycle.h"
#include "api/sim/cluster/node_pools.h"
#include "api/sim/cluster/scheduler.h"
#include "api/sim/cluster/stateful_set_controller.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

struct ClusterOptions {
  std::uint64_t seed = 1;  ///< Of uids, generated names, delays and ties between nodes.
  std::vector<NodePool> pools = default_node_pools();
  KubeletOptions kubelet{};       ///< Its seed is set from `seed` when `jitter` is on.
  bool jitter = false;            ///< Delays and the choice between equal nodes vary with the seed.
  std::size_t history = 100'000;  ///< Changes kept before the oldest are compacted away.
  std::string ca{};               ///< PEM, for the config map kube-root-ca.crt.
};

/// Requests (through transports) may come from any thread; all other members belong to the driver's thread.
class Cluster {
 public:
  /// `clock` outlives it.
  explicit Cluster(const Clock& clock, ClusterOptions options = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] Registry& registry() { return registry_; }
  [[nodiscard]] ApiServer& api_server() { return *api_server_; }
  [[nodiscard]] const ClusterOptions& options() const { return options_; }

  /// A connection of `user` to the API server, in process. The cluster outlives it.
  [[nodiscard]] std::unique_ptr<http::Transport> transport(UserInfo user = {});
  /// Called after the cluster's own admission plugins. Set before requests come.
  void set_webhooks(Admission webhooks, AdmissionCheck validating = {}) {
    webhooks_ = std::move(webhooks);
    validating_webhooks_ = std::move(validating);
  }

  // Time.

  /// A client of the cluster, or anything else that takes part: does all it can do now, returns when it is due next.
  using Participant = std::function<std::optional<Instant>(Instant now)>;

  /// One round of every controller, scheduler and kubelet. True if anything was written.
  bool step();
  /// Rounds until nothing changes any more at this instant; returns when the cluster or the participant is due next.
  std::optional<Instant> settle(const Participant& participant = {});
  [[nodiscard]] std::optional<Instant> next_due() const;
  /// Settles, jumps to what is due next, and so on, until `duration` is over.
  void run_for(FakeClock& clock, Duration duration, const Participant& participant = {});
  /// The same until `condition` holds at a quiet moment. False if it did not within `limit`.
  bool run_until(FakeClock& clock, Duration limit, const std::function<bool()>& condition,
                 const Participant& participant = {});

  // Objects, as an administrator.

  /// Creates the object, or replaces all but the status of the one that is there. Namespaced objects without a
  /// namespace go to `default`. Errors: InvalidArgument for an unknown kind; those of the registry.
  Result<Object> apply(Json manifest);
  /// Every document of the text, definitions of resources first.
  Status apply_yaml(std::string_view text);
  /// Null if there is none. `resource` is like "pods" or "rayclusters.ray.io".
  [[nodiscard]] JsonPtr get(std::string_view resource, const ObjectKey& key) const;
  Status remove(std::string_view resource, const ObjectKey& key, const std::string& propagation = "Background");

  // Faults. Each is a write to the API server, so `kubectl` can do the same.

  /// The pod ends with phase Failed.
  Status fail_pod(const ObjectKey& key, int exit_code = 1, const std::string& reason = {});
  /// One container exits; its restart policy decides what follows.
  Status kill_container(const ObjectKey& key, const std::string& container, int exit_code = 137);
  /// False: the node is lost, its kubelet silent. True: it is back.
  Status set_node_ready(const std::string& node, bool ready);
  Status cordon(const std::string& node, bool unschedulable = true);
  Status delete_node(const std::string& node);
  /// A deleted node of a pool comes back as a new machine.
  Status restore_node(const std::string& node);
  /// Forgets all history: every watch that is not up to date gets 410.
  void compact() { storage_.compact(storage_.revision()); }

 private:
  void create_world();
  Status create_node(const NodePool& pool, int host, int index);
  Status change(std::string_view resource, const ObjectKey& key, std::string_view subresource,
                const std::function<void(Json&)>& edit);

  const Clock& clock_;
  const ClusterOptions options_;
  Storage storage_;
  Registry registry_;
  Admission webhooks_;
  AdmissionCheck validating_webhooks_;
  std::unique_ptr<ApiServer> api_server_;
  Scheduler scheduler_;
  Kubelet kubelet_;
  NodeLifecycle node_lifecycle_;
  GarbageCollector garbage_collector_;
  Namespaces namespaces_;
  Endpoints endpoints_;
  JobController jobs_;
  FinishedJobs finished_jobs_;
  StatefulSetController stateful_sets_;
};

}  // namespace tpuslice::sim
