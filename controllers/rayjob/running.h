// States in which the Ray job is followed: Waiting until the user has submitted it, and Running.
#pragma once

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

void plan_waiting(const RayJobState& state, Draft& draft);

/// Ray's status decides how the job ends. Before any limit of time counts, the dashboard is asked: after a restart of
/// the operator, the job may have ended meanwhile.
void plan_running(const RayJobState& state, Draft& draft);

}  // namespace tpuslice::rayjob
