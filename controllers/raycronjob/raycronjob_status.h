// The status of a RayCronJob, and the events of changed conditions.
#pragma once

#include "controllers/plan/changes.h"
#include "controllers/raycronjob/decisions.h"

namespace tpuslice::raycronjob {

/// status.lastScheduleTime and the conditions, after the writes of the plan. Adds events of changed conditions.
[[nodiscard]] Json next_status(const RayCronJobState& state, const Decisions& decisions, plan::Changes& changes);

/// The status of a refused spec.
[[nodiscard]] Json refused_status(const RayCronJobState& state, plan::Changes& changes);

}  // namespace tpuslice::raycronjob
