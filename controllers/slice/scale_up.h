// Scale-up: scout pods, which ask the cluster autoscaler for node pools on behalf of slices without a free domain.
//
// Cluster autoscalers ignore gated pods, and one pod that kube-scheduler reports as Unschedulable brings a whole
// multi-host node pool. A scout is such a pod: the operator's own, with what the autoscaler reads of the slice's hosts
// (node selector, affinity, tolerations, chips). When the nodes are Ready the slice is placed like any other, whole or
// not at all, and its scout is deleted. The pods of the slice are not touched before, so a failed scale-up
// does not restart the workload (docs/adr/0020-scout-pods.md).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/slice/assignment.h"
#include "controllers/slice/scale_up_bounds.h"

namespace tpuslice::slice {

enum class ScaleUp : std::uint8_t {
  kOff,                  ///< Not at all.
  kAuto,                 ///< Scouts, if the cluster has a cluster autoscaler (autoscaler_status.h).
  kScout,                ///< Scouts.
  kProvisioningRequest,  ///< Provisioning requests (provisioning_request.h).
};

struct ScaleUpOptions {
  ScaleUp mode = ScaleUp::kOff;         ///< A workload may choose another with the annotation tpuslice.dev/scale-up.
  bool scouts = true;                   ///< False: none are made, whatever a workload chooses.
  std::string namespace_name;           ///< Namespace of the scouts.
  std::string provisioning_class = {};  ///< Class of provisioning requests; empty: none are made.
  std::string image = "registry.k8s.io/pause:3.10.1";
  /// Scouts with equivalent node requirements, and of one namespace (scale_up_bounds.h); likewise provisioning
  /// requests.
  std::size_t max_scouts = 50;
  /// A scout without a node for this long counts as unsuccessful: it is kept, but is deleted first at the limit.
  /// So is a provisioning request that is not provisioned this long after its creation, or whose slice has no domain
  /// this long after it was provisioned. One that ended is created again this long after its end.
  Duration timeout = std::chrono::minutes(15);
  Duration delay = std::chrono::seconds(5);  ///< Younger slices ask for nothing.
};

/// PriorityClass of the scouts (deploy/operator/priority-class.yaml).
inline constexpr std::string_view kScoutPriorityClass = "tpu-slice-scout";

/// Whether the pod is a scout of this operator.
[[nodiscard]] bool is_scout(const PodView& pod, const ScaleUpOptions& options);
/// The key of the slice for which the scout asks, from its annotation.
[[nodiscard]] ObjectKey slice_of_scout(const PodView& scout);
[[nodiscard]] ObjectKey slice_of_scout(const std::string& annotation);

/// How nodes are asked for; kOff for a slice that lacks no domain, or does not want it.
[[nodiscard]] ScaleUp scale_up_of(const WaitingSlice& waiting, const ScaleUpOptions& options);

/// The end of the gang that begins at `first`: slices of a gang follow each other.
[[nodiscard]] std::size_t end_of_gang(const std::vector<WaitingSlice>& waiting, std::size_t first);

struct ScoutPlan {
  std::vector<plan::Action> creates;
  std::vector<plan::Action> deletes;
  /// By slice, what its waiting reason says about new nodes.
  std::map<const Slice*, std::string> notes;
  std::optional<Timestamp> changes_at;
};

/// Whether the slices of one gang may ask for nodes within `bounds`. If not, their notes say so, and there may be room
/// once the next one is unsuccessful.
[[nodiscard]] bool has_room(const std::vector<const WaitingSlice*>& gang, const ScaleUpBounds& bounds,
                            std::optional<Timestamp> next_unsuccessful, const ScaleUpOptions& options, ScoutPlan& plan);

/// - Each slice that lacks a domain gets one scout, in the order of `waiting`, within ScaleUpBounds. All slices of a
///   gang get theirs or none.
/// - Scouts of slices that no longer wait are deleted, those on nodes that another slice got or that are a whole domain
///   now, and those that avoid a domain which has been removed.
///
/// `has_autoscaler`: for ScaleUp::kAuto. Without one, only scouts that have a node are kept.
[[nodiscard]] ScoutPlan plan_scouts(const std::vector<WaitingSlice>& waiting, const std::vector<PodPtr>& scouts,
                                    Inventory& inventory, bool has_autoscaler, Timestamp now,
                                    const ScaleUpOptions& options);

}  // namespace tpuslice::slice
