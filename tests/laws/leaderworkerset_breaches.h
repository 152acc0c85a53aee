// What a plan for a LeaderWorkerSet must never do, and what must not be wrong with one at rest.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::leaderworkerset {

/// One sentence for each promise that `plan`, made for `seen`, breaks.
[[nodiscard]] std::vector<std::string> breaches(const LeaderWorkerSetObserved& seen, const runtime::Plan& plan);

/// What is wrong with a LeaderWorkerSet for which there is nothing left to do.
[[nodiscard]] std::vector<std::string> faults_of(const LeaderWorkerSetObserved& seen);

}  // namespace tpuslice::leaderworkerset
