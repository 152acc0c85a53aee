// Deletion of a RayJob: its finalizer holds it until Ray has stopped the job, or for a limited time.
#pragma once

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

[[nodiscard]] bool has_stop_finalizer(const Object& job);
/// Adds the finalizer if it is missing.
void ensure_finalizer(const RayJobState& state, Draft& draft);

/// The plan for a RayJob that is being deleted. Whether its spec is valid does not matter.
[[nodiscard]] plan::Plan plan_deletion(const RayJobState& state);

}  // namespace tpuslice::rayjob
