// The plan of a RayCronJob. Pure.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycronjob/observed.h"
#include "controllers/raycronjob/raycronjob_options.h"

namespace tpuslice::raycronjob {

/// Creates the RayJob of the run that is due, then records the run in the status. Empty for a RayCronJob that is being
/// deleted; the garbage collector deletes its RayJobs.
[[nodiscard]] plan::Plan plan_raycronjob(const RayCronJobObserved& seen, const Options& options);

}  // namespace tpuslice::raycronjob
