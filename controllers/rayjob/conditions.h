// The conditions of a RayJob.
#pragma once

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// Sets them from the state that the plan reaches. A refusal that changes is also an event.
void set_conditions(const RayJobState& state, Draft& draft);

}  // namespace tpuslice::rayjob
