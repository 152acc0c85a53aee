// Revision history of a LeaderWorkerSet: the desired revision, and the unused ones to delete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/groups/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/rollout/revisions.h"

namespace tpuslice::leaderworkerset {

struct History {
  std::vector<Revision> revisions;  ///< Live ones, and the missing one.
  /// Key of the revision for the current spec; if the claims changed, that of the leader set.
  std::string desired;
  std::optional<Json> missing;       ///< The desired revision, to create, if it does not exist.
  bool leader_set_outdated = false;  ///< The leader set has another revision.
  /// The volumeClaimTemplates of the spec differ from those of the leader set's revision. A StatefulSet cannot follow,
  /// so no rollout begins.
  bool claims_changed = false;
};

/// A revision that equals the spec is used again, for example after a rollback.
[[nodiscard]] History read_history(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                   const StatefulSetView* leader_set);

/// Revisions that neither a group nor the leader set uses, oldest first, without the latest `limit`. One whose data
/// equals that of a kept revision does not count: a rollback would use the kept one.
[[nodiscard]] std::vector<Revision> expired_revisions(const History& history, const std::vector<Group>& groups,
                                                      const StatefulSetView* leader_set, int limit);

}  // namespace tpuslice::leaderworkerset
