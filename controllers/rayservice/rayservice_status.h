// The status of a RayService: upstream's fields, and conditions of ours.
#pragma once

#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/suspension.h"

namespace tpuslice::rayservice {

/// The whole status after the decisions. Equal to the present one unless something but the time changed. Adds the
/// events of conditions that change.
[[nodiscard]] Json next_status(const RayServiceState& state, const Decisions& decisions, const Problem& refusal,
                               plan::Changes& changes);

/// The status in a phase other than kRunning.
[[nodiscard]] Json suspension_status(const RayServiceState& state, SuspendPhase phase, const Problem& refusal,
                                     plan::Changes& changes);

/// The status for has_timed_out(): the present status, for the present generation.
[[nodiscard]] Json timed_out_status(const RayServiceState& state, const Problem& refusal, plan::Changes& changes);

/// The service did not become ready within its initializing timeout. Final: it is deleted, or suspended and resumed.
[[nodiscard]] bool has_timed_out(const RayServiceState& state);

}  // namespace tpuslice::rayservice
