// Invariants of LeaderWorkerSet plans, and of LeaderWorkerSets for which nothing is left to do.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// Invariants that `plan`, computed for `seen`, violates.
[[nodiscard]] std::vector<std::string> plan_violations(const LeaderWorkerSetObserved& seen, const plan::Plan& plan);

/// Invariants that a LeaderWorkerSet violates although its plan is empty.
[[nodiscard]] std::vector<std::string> settled_violations(const LeaderWorkerSetObserved& seen);

}  // namespace tpuslice::leaderworkerset
