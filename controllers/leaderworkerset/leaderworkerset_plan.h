// plan_leaderworkerset: what is to be done for one LeaderWorkerSet.
#pragma once

#include "api/base/result.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/options.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::leaderworkerset {

/// Pure. A spec that is invalid is told of in the status, and nothing else is touched.
[[nodiscard]] Result<runtime::Plan> plan_leaderworkerset(const LeaderWorkerSetObserved& seen,
                                                         const Options& options = {});

}  // namespace tpuslice::leaderworkerset
