// Groups that are deleted: failed ones, to restart them, and outdated ones.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/groups/restarts.h"
#include "controllers/leaderworkerset/leaderworkerset_state.h"

namespace tpuslice::leaderworkerset {

/// Deletion of a group's leader, worker set and workers. The StatefulSet controller recreates the leader.
struct GroupDeletion {
  const Group* group = nullptr;              ///< Never null.
  std::optional<GroupFailure> failure = {};  ///< Why the group restarts; absent for an update.
};

using GroupDeletions = std::map<int, GroupDeletion>;  ///< By group.

/// A group that failed and is not restarted again.
struct ExhaustedGroup {
  const Group* group = nullptr;  ///< Never null.
  int restarts = 0;
  std::string cause;  ///< GroupFailure::cause
};

/// Groups to restart now, and why others are not.
struct Restarts {
  GroupDeletions deletions;
  std::vector<ExhaustedGroup> exhausted;
  std::optional<Duration> requeue_after;  ///< End of the next back-off.
  std::string records;                    ///< New value of the annotation kRestarts; empty if it does not change.
};
[[nodiscard]] Restarts decide_restarts(const LeaderWorkerSetState& state, const Options& options);

/// Outdated groups, once the StatefulSet controller would create their leaders with the new revision.
[[nodiscard]] GroupDeletions decide_updates(const LeaderWorkerSetState& state);

}  // namespace tpuslice::leaderworkerset
