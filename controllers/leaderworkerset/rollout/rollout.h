// Rolling update: the next replicas and partition of the leader set.
#pragma once

#include <optional>
#include <vector>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

struct RolloutState {
  /// The live leader set.
  struct LeaderSet {
    int replicas = 0;
    int partition = 0;
    int replicas_without_surge = 0;  ///< Annotation kReplicas.
  };
  struct GroupState {
    bool ready = false;
    bool updated = false;   ///< Has the desired revision.
    bool outdated = false;  ///< Has another revision.
    bool stuck = false;     ///< Not ready for longer than Options::stuck_after.
  };

  int replicas = 1;  ///< Wanted groups.
  Rollout policy;
  std::optional<LeaderSet> leader_set;
  bool new_revision = false;       ///< The leader set does not have the desired revision yet.
  std::vector<GroupState> groups;  ///< By index; missing ones are neither ready nor updated nor outdated.
};

struct RolloutStep {
  int partition = 0;  ///< Groups below it keep their revision.
  int replicas = 0;   ///< Groups, including the surge.
  friend bool operator==(const RolloutStep&, const RolloutStep&) = default;
};

/// The next step of upstream's controller, limited so that at least replicas - maxUnavailable groups stay ready, or all
/// that are ready if there are fewer, and no more than replicas + maxSurge exist. All groups from the partition upwards
/// may be recreated at once.
///
/// If a stuck group can only be updated after ready groups above it, those are updated one at a time.
///
/// Groups below the partition of the policy count as not updated yet: they keep the surge until the partition is
/// lowered. Surge groups are created for an update only, not while groups that are up to date are created or restarted.
///
/// Source: LeaderWorkerSet, rollingUpdateParameters.
[[nodiscard]] RolloutStep next_step(const RolloutState& state);

}  // namespace tpuslice::leaderworkerset
