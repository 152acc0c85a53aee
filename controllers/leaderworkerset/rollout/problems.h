// What a user asked for that is not rolled out, and why.
#pragma once

#include <vector>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/leaderworkerset_state.h"
#include "controllers/leaderworkerset/rollout/rollout.h"

namespace tpuslice::leaderworkerset {

/// `step`: the next one. kVolumeClaimsChanged is first, since admission reads the reason of the condition.
[[nodiscard]] std::vector<Problem> rollout_problems(const LeaderWorkerSetState& state, const RolloutStep& step);

}  // namespace tpuslice::leaderworkerset
