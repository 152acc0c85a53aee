// The plan of a DisaggregatedSet. Pure.
#pragma once

#include "controllers/disaggregatedset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::disaggregatedset {

/// Decides (decisions.h) and renders (render.h). The status is as observed before the writes. Empty for a set that is
/// being deleted: the garbage collector deletes its children.
[[nodiscard]] plan::Plan plan_disaggregatedset(const DisaggregatedSetObserved& seen);

}  // namespace tpuslice::disaggregatedset
