// Renders decisions: actions with what is reported of them, and the status of a plan.
#pragma once

#include <memory>

#include "api/types/conditions.h"
#include "controllers/plan/plan.h"
#include "tests/example_kind/children.h"
#include "tests/example_kind/decisions.h"

namespace tpuslice::example {

inline const plan::CounterDefinition kShipRestarts{"example_fleet_ship_restarts_total",
                                                   "Ships whose pods were deleted to be created again."};

[[nodiscard]] plan::Plan render(const FleetState& state, const Decisions& decisions,
                                const std::shared_ptr<const PodBuilder>& builder);

/// The plan for a spec that is refused: existing children stay; the condition Accepted and an event report it.
[[nodiscard]] plan::Plan render_refusal(const FleetState& state, const Problem& refusal);

}  // namespace tpuslice::example
