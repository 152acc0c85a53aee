// Scouts: pods that ask the cluster autoscaler for node pools.
//
// Cluster autoscalers ignore gated pods, and one pod that kube-scheduler reports as Unschedulable brings a whole
// multi-host node pool. A scout is such a pod: the operator's own, with what the autoscaler reads of the slice's hosts
// (node selector, affinity, tolerations, chips). When the nodes are Ready the slice is placed like any other, whole or
// not at all, and its scout is deleted. The pods of the slice are not touched before, so a failed scale-up
// does not restart the workload (docs/adr/0020-scout-pods.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/placement/scale_up/scale_up.h"

namespace tpuslice::placement {

/// PriorityClass of the scouts (deploy/operator/scouts.yaml).
inline constexpr std::string_view kScoutPriorityClass = "tpu-slice-scout";

/// Whether the pod is a scout of this operator.
[[nodiscard]] bool is_scout(const PodView& pod, const ScaleUpOptions& options);
/// The key of the slice for which the scout asks, from its annotation.
[[nodiscard]] ObjectKey slice_of_scout(const PodView& scout);

/// Whether the scout has a node or may still get one: it does not count as unsuccessful.
[[nodiscard]] bool may_bring_nodes(const PodView& scout, Timestamp now, const ScaleUpOptions& options);

/// The plan_scale_up() of scouts. Deletes those of slices that no longer wait, those on nodes that another slice got or
/// that are a whole domain now, and those that avoid a domain which has been removed.
///
/// `has_autoscaler`: for ScaleUp::kAuto. Without one, only scouts that have a node are kept.
[[nodiscard]] ScaleUpPlan plan_scouts(const std::vector<WaitingSlice>& waiting, const std::vector<PodPtr>& scouts,
                                      Inventory& inventory, bool has_autoscaler, Timestamp now,
                                      const ScaleUpOptions& options);

/// The scout of the slice, with node selector, node affinity, tolerations and chips of the first host. It stays off
/// domains where any pod of a slice or scout is, by anti-affinity, and off `avoided` domains.
[[nodiscard]] Json scout_pod(const Slice& slice, const std::vector<std::string>& avoided,
                             const ScaleUpOptions& options);

}  // namespace tpuslice::placement
