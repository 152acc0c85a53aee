// Renders decisions: actions, events, requests and the status of a plan.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/rayservice/decisions.h"

namespace tpuslice::rayservice {

[[nodiscard]] plan::Plan render(const RayServiceState& state, const Decisions& decisions);

}  // namespace tpuslice::rayservice
