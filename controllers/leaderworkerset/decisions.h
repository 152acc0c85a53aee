// Decisions: what one plan for a LeaderWorkerSet does, before it is rendered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/groups/group_children.h"
#include "controllers/leaderworkerset/groups/group_deletions.h"
#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/leaderworkerset/leaderworkerset_state.h"
#include "controllers/leaderworkerset/rollout/rollout.h"
#include "controllers/plan/child.h"

namespace tpuslice::leaderworkerset {

/// Borrows from the state.
struct Decisions {
  RolloutStep step;              ///< What the leader set is to have.
  bool create_revision = false;  ///< History::missing
  plan::ChildDecision shared_service;
  /// kCreate, kPatch or kNone. While the rollout waits, the patch has nothing but restart records.
  plan::ChildDecision leader_set;
  /// LeaderTemplateDecision::restored of that patch.
  std::string restored_template;
  GroupDeletions deletions;                   ///< Restarts and updates.
  std::vector<ExhaustedGroup> exhausted;      ///< Failed groups that are not restarted.
  std::vector<GroupChildren> group_children;  ///< Children of the other groups.
  std::vector<Revision> expired_revisions;
  std::optional<Duration> requeue_after;  ///< End of back-offs and of Options::stuck_after.
  /// A write of the rollout failed, and groups need something: this plan is about existing groups only.
  bool rollout_waits = false;
};

/// Failed groups are restarted and outdated ones deleted; the others get their children. Then the rollout: revision,
/// shared service and leader set.
[[nodiscard]] Decisions decide(const LeaderWorkerSetState& state, const Options& options);

/// The lower number of groups that a refused spec still asks for, which needs none of what it may be refused for.
/// Nothing unless the leader set is ours and the number was lowered since it was accepted.
[[nodiscard]] std::optional<int> decide_refused(const LeaderWorkerSetObserved& seen);

}  // namespace tpuslice::leaderworkerset
