// The conditions of a RayJob.
#pragma once

#include "controllers/plan/changes.h"
#include "controllers/rayjob/decisions.h"

namespace tpuslice::rayjob {

/// The conditions of the state that the plan reaches. Adds an event of a refusal that changed to `changes`.
[[nodiscard]] Json next_conditions(const RayJobState& state, const Decisions& decisions, plan::Changes& changes);

}  // namespace tpuslice::rayjob
