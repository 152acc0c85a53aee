// The plan of a RayJob. Pure.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/rayjob/observed.h"
#include "controllers/rayjob/rayjob_options.h"

namespace tpuslice::rayjob {

/// Empty for a RayJob that spec.managedBy assigns to another controller. An invalid spec is not begun: the state is
/// ValidationFailed until it is corrected. A RayJob that has begun is followed to its end, or to its
/// suspension, whatever its spec says now; for an invalid one no child is created.
[[nodiscard]] plan::Plan plan_rayjob(const RayJobObserved& seen, const Options& options);

}  // namespace tpuslice::rayjob
