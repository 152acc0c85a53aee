// The status of a DisaggregatedSet, and the events of changed conditions.
#pragma once

#include "api/types/conditions.h"
#include "controllers/disaggregatedset/decisions.h"
#include "controllers/plan/changes.h"

namespace tpuslice::disaggregatedset {

/// The status as observed before the plan's writes. Adds events of conditions that changed to `changes`.
[[nodiscard]] Json next_status(const DisaggregatedSetState& state, const Decisions& decisions, plan::Changes& changes);

/// The status of a set whose spec is refused: the counts and conditions of the last accepted spec stay.
[[nodiscard]] Json refused_status(const DisaggregatedSetState& state, const Problem& refusal, plan::Changes& changes);

}  // namespace tpuslice::disaggregatedset
