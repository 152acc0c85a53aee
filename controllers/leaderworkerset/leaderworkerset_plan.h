// plan_leaderworkerset: the plan for one LeaderWorkerSet.
#pragma once

#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// Pure. Empty for a set that is being deleted. If the spec is invalid, the condition kAccepted and an event report it,
/// and existing groups continue, but can be scaled down.
[[nodiscard]] plan::Plan plan_leaderworkerset(const LeaderWorkerSetObserved& seen, const Options& options = {});

}  // namespace tpuslice::leaderworkerset
