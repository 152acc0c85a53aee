// render: the Plan that carries out Decisions.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/decisions.h"
#include "controllers/leaderworkerset/observed.h"

namespace tpuslice::leaderworkerset {

// Action::failure_reason: of the desired revision, the shared service and the leader set of a set that has groups; of
// other creates; of other patches and deletes.
inline constexpr std::string_view kFailedRollout = "FailedRollout";
inline constexpr std::string_view kFailedCreate = "FailedCreate";
inline constexpr std::string_view kFailedUpdate = "FailedUpdate";

/// One of the three.
[[nodiscard]] bool is_failed_write(std::string_view reason);

/// `leader_set`: null if it does not exist.
[[nodiscard]] plan::Plan render(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                const std::vector<Group>& groups, const StatefulSetView* leader_set,
                                Decisions decisions);

}  // namespace tpuslice::leaderworkerset
