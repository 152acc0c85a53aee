// Renders what is decided about the waiting slices of one accelerator as the plan that does it. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/assignment.h"
#include "controllers/placement/scale_up/scale_up.h"

namespace tpuslice::placement {

/// The decisions of plan_placement(). Points into the slices they are about.
struct PlacementDecisions {
  std::vector<Placement> placements;
  std::vector<Preemption> preemptions;
  std::map<ObjectKey, Slice> pod_victims;  ///< Those of the preemptions that are pods.
  /// Written before anything is preempted. If that fails, nothing is.
  std::optional<plan::Action> preemption_record;
  std::vector<WaitingSlice> waiting;     ///< For nodes, and long enough for a waiting reason.
  std::vector<WaitingSlice> incomplete;  ///< Slices that wait for pods.
  std::vector<WaitingSlice> refused;     ///< All whose pods cannot be changed.
  std::vector<WaitingSlice> rejected;    ///< Slices that back off, as kube-scheduler rejected their placements.
  std::map<plan::WaitingCode, std::size_t> without_nodes;  ///< How many wait for nodes, with a reason written or not.
  ScaleUpPlan scouts;
  ScaleUpPlan provisioning;                           ///< Plan of provisioning requests.
  std::optional<Timestamp> last_plan;                 ///< PlacementObserved::last_plan
  std::optional<Timestamp> changes_at;                ///< When the decisions may change without a watch event.
  const plan::FailedWrites* failed_writes = nullptr;  ///< May be null.
};

/// The counters that these plans increment.
extern const std::array<const plan::CounterDefinition*, 3> kCounters;

[[nodiscard]] plan::Plan render_placement(const AcceleratorCache& cache, Timestamp now, PlacementDecisions decisions);

}  // namespace tpuslice::placement
