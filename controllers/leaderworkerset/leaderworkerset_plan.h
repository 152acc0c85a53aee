// plan_leaderworkerset: the plan for one LeaderWorkerSet.
#pragma once

#include "api/base/result.h"
#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// Pure. An invalid spec only changes the status: condition kAccepted.
[[nodiscard]] Result<plan::Plan> plan_leaderworkerset(const LeaderWorkerSetObserved& seen, const Options& options = {});

}  // namespace tpuslice::leaderworkerset
