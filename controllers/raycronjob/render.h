// Decisions about a RayCronJob become a plan. It decides nothing.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycronjob/decisions.h"

namespace tpuslice::raycronjob {

/// RayJobs that were created for runs.
inline const plan::CounterDefinition kScheduledRayJobs{"tpuslice_scheduled_rayjobs_total",
                                                       "RayJobs that RayCronJobs created."};

/// The plan that carries out the decisions.
[[nodiscard]] plan::Plan render(const RayCronJobState& state, const Decisions& decisions);

/// The plan for a spec that is refused: its status.
[[nodiscard]] plan::Plan render_refusal(const RayCronJobState& state);

}  // namespace tpuslice::raycronjob
