// The plan of an accelerator: which of the slices that wait for its nodes start now. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/slice/options.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct PlacementObserved {
  std::string accelerator;     ///< Value of the node label, "tpu-v6e-slice".
  std::vector<NodePtr> nodes;  ///< All nodes with it.
  std::vector<PodPtr> pods;    ///< All pods with TPU that select it, or select none.
  TroubleCounts troubles;      ///< Of domains.
  Timestamp now;
};

/// Lets host 0 of each slice go to the domain it was assigned, which is the record that the slice is placed; the rest
/// is the plan of the slice (slice_plan.h). Tells the others, on host 0, why they wait.
///
/// All decisions about the nodes of one accelerator are made here, one plan after the other, each seeing the writes of
/// the last: so no domain is given away twice. (Two replicas that both believe to lead can still do so; the pods'
/// anti-affinity then keeps one of the slices out, and bound_within ends its wait.)
[[nodiscard]] runtime::Plan plan_placement(const PlacementObserved& seen, const Options& options);

}  // namespace tpuslice::slice
