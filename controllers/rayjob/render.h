// Renders decisions: actions, events, metrics and the status of a plan.
#pragma once

#include "controllers/plan/changes.h"
#include "controllers/plan/plan.h"
#include "controllers/rayjob/decisions.h"
#include "controllers/rayjob/deletion.h"

namespace tpuslice::rayjob {

/// RayJobs that have ended, by the state that they reached.
inline const plan::CounterDefinition kFinishedRayJobs{
    "tpuslice_rayjobs_finished_total", "RayJobs that completed or failed.", "result", {"Complete", "Failed"}};

/// The plan that carries out the decisions.
[[nodiscard]] plan::Plan render(const RayJobState& state, const Decisions& decisions);

/// The plan for a RayJob that is being deleted. Its status stays as it is.
[[nodiscard]] plan::Plan render_deletion(const RayJobState& state, const DeletionDecision& decision);

/// The conditions of the state that the plan reaches. Adds an event of a refusal that changed to `changes`.
[[nodiscard]] Json next_conditions(const RayJobState& state, const Decisions& decisions, plan::Changes& changes);

}  // namespace tpuslice::rayjob
