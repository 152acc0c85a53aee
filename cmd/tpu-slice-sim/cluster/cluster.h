// Cluster: a whole Kubernetes cluster in one process: API server, scheduler, kubelets, controllers and TPU node pools.
//
//   FakeClock clock;
//   Cluster cluster(clock, {.seed = 7});
//   auto transport = cluster.transport();
//   cluster.apply_yaml(manifest);
//   cluster.run_for(clock, 30s, [&](Instant now) { return operator_under_test.step(now); });
//
// The driver advances the cluster: step() does what is due now, next_due() is the time of the next step. Equal seeds
// and equal calls give equal histories.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/cluster/endpoint_slices.h"
#include "cmd/tpu-slice-sim/cluster/garbage_collection/garbage_collector.h"
#include "cmd/tpu-slice-sim/cluster/garbage_collection/namespaces.h"
#include "cmd/tpu-slice-sim/cluster/jobs/finished_jobs.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_controller.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_lifecycle.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/scheduler.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_controller.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/server/api_server.h"

namespace tpuslice::sim {

struct ClusterOptions {
  std::uint64_t seed = 1;  ///< Seed of uids, generated names, delays and ties between nodes.
  std::vector<NodePool> pools = default_node_pools();
  std::vector<Json> nodes{};      ///< Further ones; their networks are set.
  KubeletOptions kubelet{};       ///< Its seed is set from `seed` when `jitter` is on.
  bool jitter = false;            ///< Delays and the choice between equal nodes vary with the seed.
  std::size_t history = 100'000;  ///< Changes kept; older ones are compacted.
  std::string ca{};               ///< PEM, for the config map kube-root-ca.crt.
};

/// Requests (through transports) may come from any thread; all other members must be called from the driver's thread.
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
  /// Called after the built-in admission plugins. Set before the first request.
  void set_webhooks(Admission webhooks, AdmissionCheck validating = {}) {
    webhooks_ = std::move(webhooks);
    validating_webhooks_ = std::move(validating);
  }

  // Time.

  /// A client of the cluster: does what is due now and returns when it is due next.
  using Participant = std::function<std::optional<Instant>(Instant now)>;

  /// One round of every controller, scheduler and kubelet. True if anything was written.
  bool step();
  /// Repeats rounds until nothing changes at this time; returns when the cluster or the participant is due next.
  std::optional<Instant> settle(const Participant& participant = {});
  [[nodiscard]] std::optional<Instant> next_due() const;
  /// Settles and advances the clock to the next due time, until `duration` is over.
  void run_for(FakeClock& clock, Duration duration, const Participant& participant = {});
  /// The same until `condition` holds after settling. False if it did not within `limit`.
  bool run_until(FakeClock& clock, Duration limit, const std::function<bool()>& condition,
                 const Participant& participant = {});

  // Objects, as an administrator.

  /// Creates the object, or replaces all but the status of the existing one. The namespace of namespaced objects
  /// defaults to `default`. Errors: InvalidArgument for an unknown kind; those of the registry.
  Result<Object> apply(Json manifest);
  /// Applies every document of the text, CustomResourceDefinitions first.
  Status apply_yaml(std::string_view text);
  /// Null if there is none. `resource` is like "pods" or "rayclusters.ray.io".
  [[nodiscard]] JsonPtr get(std::string_view resource, const ObjectKey& key) const;
  Status remove(std::string_view resource, const ObjectKey& key, const std::string& propagation = "Background");

  // Faults. Each is a write to the API server, so `kubectl` can do the same.

  /// Sets phase Failed.
  Status fail_pod(const ObjectKey& key, int exit_code = 1, const std::string& reason = {});
  /// One container exits; its restart policy applies.
  Status kill_container(const ObjectKey& key, const std::string& container, int exit_code = 137);
  /// False: the node's kubelet stops, so that the node is lost. True: it runs again.
  Status set_node_ready(const std::string& node, bool ready);
  Status cordon(const std::string& node, bool unschedulable = true);
  Status delete_node(const std::string& node);
  /// Creates a deleted node of a pool again, as a new machine.
  Status restore_node(const std::string& node);
  /// Compacts the whole history: every watch that is not up to date gets 410.
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
  EndpointSlices endpoint_slices_;
  JobController jobs_;
  FinishedJobs finished_jobs_;
  StatefulSetController stateful_sets_;
};

}  // namespace tpuslice::sim
