// Objects of tests with Kueue: workloads in a queue, and what makes up a queue.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/types/json.h"
#include "api/types/resource_type.h"

namespace tpuslice::testing {

inline constexpr ResourceType kKueueWorkloads{"kueue.x-k8s.io", "v1beta2", "Workload", "workloads"};
inline constexpr ResourceType kClusterQueues{"kueue.x-k8s.io", "v1beta2", "ClusterQueue", "clusterqueues", false};
inline constexpr ResourceType kPriorityClasses{"kueue.x-k8s.io", "v1beta2", "WorkloadPriorityClass",
                                               "workloadpriorityclasses", false};
inline constexpr ResourceType kProvisioningRequests{"autoscaling.x-k8s.io", "v1", "ProvisioningRequest",
                                                    "provisioningrequests"};

inline constexpr std::string_view kAdmissionGate = "kueue.x-k8s.io/admission";
inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";
inline constexpr std::string_view kRequiredTopology = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kUnconstrainedTopology = "kueue.x-k8s.io/podset-unconstrained-topology";
inline constexpr std::string_view kSliceRequiredTopology = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kPodSetSliceSize = "kueue.x-k8s.io/podset-slice-size";

/// A workload of v6e slices with four chips on each host, in the namespace default.
struct QueuedWorkload {
  std::string name;
  std::string queue;
  std::string priority = {};  ///< WorkloadPriorityClass; empty: none.
  int slices = 2;
  int hosts = 4;
  std::string topology = "4x4";
  StringMap annotations = {};  ///< Of the pod template.

  [[nodiscard]] int chips() const { return slices * hosts * 4; }
};

enum class WorkloadKind { kJobSet, kJob, kLeaderWorkerSet, kRayCluster };
inline constexpr WorkloadKind kWorkloadKinds[] = {WorkloadKind::kJobSet, WorkloadKind::kJob,
                                                  WorkloadKind::kLeaderWorkerSet, WorkloadKind::kRayCluster};
[[nodiscard]] const ResourceType& type_of(WorkloadKind kind);
[[nodiscard]] Json make_workload(WorkloadKind kind, const QueuedWorkload& workload);

/// A LocalQueue of the namespace default with a ClusterQueue of the same name.
struct QueueOptions {
  std::string name;
  int chips = 0;  ///< Quota.
  std::string topology = "4x4";
  bool topology_aware = false;       ///< Topology Aware Scheduling with the levels node pool and host.
  std::string admission_check = {};  ///< Empty: none.
  bool hold = false;                 ///< Admits nothing.
  bool strict = false;               ///< StrictFIFO: no workload passes one that waits before it.
};

using TypedObject = std::pair<ResourceType, Json>;
/// In the order in which they are created. Workloads of lower priority are preempted.
[[nodiscard]] std::vector<TypedObject> make_queue(const QueueOptions& options);
/// For pods without TPUs, on the node pool "cpu"; of the options it uses name, topology_aware and hold.
[[nodiscard]] std::vector<TypedObject> make_cpu_queue(const QueueOptions& options);
[[nodiscard]] Json make_priority_class(const std::string& name, int value);
/// An AdmissionCheck that asks for a ProvisioningRequest of the class queued-provisioning.gke.io, twice if it fails,
/// and pins the pods to the node pool that it provides.
[[nodiscard]] std::vector<TypedObject> make_provisioning_check(const std::string& name);

}  // namespace tpuslice::testing
