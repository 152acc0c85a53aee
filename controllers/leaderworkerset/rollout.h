// The rollout: how many groups there are, and which of them may be of the new revision, a step at a time.
#pragma once

#include <optional>
#include <vector>

#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

struct RolloutState {
  /// The leader set as it is; nothing without one.
  struct LeaderSet {
    int replicas = 0;
    int partition = 0;
    int replicas_without_surge = 0;  ///< spec.replicas of the LeaderWorkerSet when it was written.
  };
  struct GroupState {
    bool ready = false;
    bool updated = false;  ///< Of the wanted revision.
    bool stuck = false;    ///< Not ready, and has been for so long that it may never be.
  };

  int replicas = 1;  ///< Wanted groups.
  Rollout policy;
  std::optional<LeaderSet> leader_set;
  bool new_revision = false;       ///< The leader set is not of the wanted one yet.
  std::vector<GroupState> groups;  ///< By index; what lies beyond is neither ready nor updated.
};

struct RolloutStep {
  int partition = 0;  ///< Groups from here on may be of the wanted revision, those below stay what they are.
  int replicas = 0;   ///< Groups, the surge included.
  friend bool operator==(const RolloutStep&, const RolloutStep&) = default;
};

/// The next step of upstream's controller, as long as that keeps replicas - maxUnavailable groups ready, or all that
/// are where those are fewer; at most replicas + maxSurge exist. All groups from the partition on may go at once.
///
/// Where a group that is stuck can only be updated after groups that are ready, these go one at a time.
///
/// Source: LeaderWorkerSet, rollingUpdateParameters.
[[nodiscard]] RolloutStep next_step(const RolloutState& state);

}  // namespace tpuslice::leaderworkerset
