// Renders decisions: actions, events, requests and the status of a plan.
#pragma once

#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/suspension.h"

namespace tpuslice::rayservice {

[[nodiscard]] plan::Plan render(const RayServiceState& state, const Decisions& decisions, const Problem& refusal);

/// The plan in a phase other than kRunning.
[[nodiscard]] plan::Plan render_suspension(const RayServiceState& state, SuspendPhase phase, const Problem& refusal);

/// The initializing timeout has passed: its clusters are deleted.
[[nodiscard]] plan::Plan render_timed_out(const RayServiceState& state, const Problem& refusal);

/// The service is being deleted: its clusters are deleted, then its finalizer is removed.
[[nodiscard]] plan::Plan render_deletion(const RayServiceState& state);

}  // namespace tpuslice::rayservice
