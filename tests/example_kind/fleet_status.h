// The status of a Fleet, and the events of changed conditions.
#pragma once

#include "api/types/conditions.h"
#include "controllers/plan/changes.h"
#include "tests/example_kind/decisions.h"

namespace tpuslice::example {

/// The status as observed before the plan's writes. Adds an event to `changes` if the condition Ready changed.
[[nodiscard]] Json next_status(const FleetState& state, const Decisions& decisions, plan::Changes& changes);

/// The status of a Fleet whose spec is refused.
[[nodiscard]] Json refused_status(const FleetState& state, const Problem& refusal, plan::Changes& changes);

}  // namespace tpuslice::example
