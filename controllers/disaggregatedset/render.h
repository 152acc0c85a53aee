// Renders decisions: actions with what is reported of them, and the status of a plan.
#pragma once

#include <memory>

#include "api/types/conditions.h"
#include "controllers/disaggregatedset/children.h"
#include "controllers/disaggregatedset/decisions.h"
#include "controllers/plan/plan.h"

namespace tpuslice::disaggregatedset {

[[nodiscard]] plan::Plan render(const DisaggregatedSetState& state, const Decisions& decisions,
                                const std::shared_ptr<const SetBuilder>& builder);

/// The plan for a spec that is refused: existing children stay; the condition Accepted and an event report it.
[[nodiscard]] plan::Plan render_refusal(const DisaggregatedSetState& state, const Problem& refusal);

}  // namespace tpuslice::disaggregatedset
