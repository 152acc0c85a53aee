// RayCronJobState: what the parts of the planner of a RayCronJob decide from, derived from one observation.
#pragma once

#include "api/types/conditions.h"
#include "controllers/raycronjob/observed.h"
#include "controllers/raycronjob/raycronjob_options.h"
#include "controllers/raycronjob/runs.h"

namespace tpuslice::raycronjob {

/// Borrows from the observation.
struct RayCronJobState {
  RayCronJobState(const RayCronJobObserved& observed, const Options& options);

  const RayCronJobObserved& seen;
  const RayCronJobSpec& spec;
  const Problem refusal;  ///< Why the spec is not carried out.
  const Runs runs;
};

}  // namespace tpuslice::raycronjob
