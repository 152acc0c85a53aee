// What pods demand of nodes, and whether one may run on a node by node selector, affinity, taints and requests, as
// kube-scheduler decides it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// What one pod demands of nodes. The affinity is parsed once, not for each node.
struct PodRequirements {
  explicit PodRequirements(PodPtr from);

  /// Whether node selector and required node affinity match, except kubernetes.io/hostname in the node selector, which
  /// NodeRequirements::hostnames holds. An affinity that the API server would refuse matches no node.
  [[nodiscard]] bool match(const NodeView& node) const;

  /// The sum of the weights of the preferred terms that match, as kube-scheduler adds them.
  [[nodiscard]] std::int64_t preference(const NodeView& node) const;

  PodPtr pod;
  std::optional<Json> affinity;                          ///< Required node selector; absent without one.
  std::vector<std::pair<std::int64_t, Json>> preferred;  ///< Weight and node selector of each preferred term.
};

/// The first taint that the pod does not tolerate, as "key=value:Effect"; empty if there is none. Ignores taints that
/// repeat the node's own state (not ready, unreachable, cordoned).
[[nodiscard]] std::string untolerated_taint(const PodView& pod, const NodeView& node);

/// A resource of which the node has too little for `pods` such pods even if nothing else runs there, such as
/// "has 8 cpu, a pod requests 16"; empty if it has enough.
[[nodiscard]] std::string lacking_resource(const PodView& pod, std::int64_t pods, const NodeView& node);

/// Why the node is about to be removed or stopped, as a taint or label of the cluster autoscaler or GKE says: "has
/// taint ToBeDeletedByClusterAutoscaler". Pods that tolerate the taint do not start there either, since the slice would
/// end soon. Empty for other nodes.
[[nodiscard]] std::string removal_reason(const NodeView& node);

/// How Google Cloud sells the node, as labels of GKE say.
enum class Capacity : std::uint8_t { kReservation, kOnDemand, kSpot };
[[nodiscard]] Capacity capacity_of(const NodeView& node);

/// The label of GKE that says that the partition of the node is not healthy:
/// "cloud.google.com/gke-tpu-partition-4x4x4-state=DEGRADED"; empty if none does.
[[nodiscard]] std::string unhealthy_partition(const NodeView& node);
/// When GKE will stop the node for maintenance (label cloud.google.com/scheduled-maintenance-time).
[[nodiscard]] std::optional<Timestamp> scheduled_maintenance(const NodeView& node);

/// The two pods have the same node selector (except kubernetes.io/hostname), affinities, tolerations, requests and
/// chips.
[[nodiscard]] bool have_same_requirements(const PodView& a, const PodView& b);

/// Different requirements of the pods of one slice, beyond which the slice is not placed: each is compared with each
/// node.
inline constexpr std::size_t kMaxRequirementsOfSlice = 8;

/// What the pods of a slice demand of nodes.
struct NodeRequirements {
  std::vector<PodRequirements> pods;  ///< Distinct by have_same_requirements().
  bool too_many = false;              ///< More than kMaxRequirementsOfSlice; then `pods` is incomplete.
  std::string topology_key;
  std::int64_t chips = 0;  ///< Chips of one pod.
  std::int64_t hosts = 0;
  std::int64_t open_hosts = 0;  ///< Pods that exist and have no node.
  /// kubernetes.io/hostname in the node selectors, by host index, "" without one; empty if no pod has one. The other
  /// members do not depend on it.
  std::vector<std::string> hostnames;
};
[[nodiscard]] NodeRequirements node_requirements(const Slice& slice);
/// Each domain fits both, or neither.
[[nodiscard]] bool are_equivalent(const NodeRequirements& a, const NodeRequirements& b);

}  // namespace tpuslice::placement
