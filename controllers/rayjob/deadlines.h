// The deadlines of a RayJob, from the start of the attempt.
#pragma once

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Fails the RayJob if spec.activeDeadlineSeconds has passed, else requeues it for that time. Returns whether it has.
bool check_active_deadline(const RayJobState& state, Draft& draft);
/// The same for spec.preRunningDeadlineSeconds.
bool check_pre_running_deadline(const RayJobState& state, Draft& draft);

}  // namespace tpuslice::rayjob
