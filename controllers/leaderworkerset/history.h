// The history of a LeaderWorkerSet: which revision is wanted, which are no longer needed.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/changes.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/revisions.h"

namespace tpuslice::leaderworkerset {

struct History {
  std::vector<Revision> revisions;  ///< Those that there are, and the one that is being created.
  std::string wanted;               ///< Key of the revision that the spec asks for.
  bool is_new = false;              ///< The leader set is of another one.
};

/// A revision that says what the spec says is used again, also after a rollback. One that is missing is created.
[[nodiscard]] History plan_history(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                   const StatefulSetView* leader_set, Changes& changes);

/// Deletes the oldest revisions that no group is made from, beyond `kept` of them.
void prune_history(const History& history, const std::vector<Group>& groups, const StatefulSetView* leader_set,
                   int kept, Changes& changes);

}  // namespace tpuslice::leaderworkerset
