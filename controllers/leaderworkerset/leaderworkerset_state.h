// LeaderWorkerSetState: what a plan for a LeaderWorkerSet is decided from, derived from one observation.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/groups/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/rollout/history.h"

namespace tpuslice::leaderworkerset {

/// The StatefulSet with the name of the leader set, whatever its owner; null if it does not exist.
[[nodiscard]] const StatefulSetView* find_leader_set(const LeaderWorkerSetObserved& seen);

/// Borrows from the observation. The spec is valid, and the leader set, if it exists, belongs to the LeaderWorkerSet.
struct LeaderWorkerSetState {
  explicit LeaderWorkerSetState(const LeaderWorkerSetObserved& observed);

  const LeaderWorkerSetObserved& seen;
  const LeaderWorkerSetSpec& spec;
  const StatefulSetView* const leader_set;  ///< Null if it does not exist.
  const History history;
  const std::vector<Group> groups;
  const std::map<std::string_view, const ServiceView*> services;  ///< By name.

  // Replicas and partition of the live leader set, limited to the replicas and surge of the largest set, since users
  // may edit it; 0 if it does not exist.
  [[nodiscard]] int leader_replicas() const;
  [[nodiscard]] int partition() const;

  /// Null if it does not exist.
  [[nodiscard]] const ServiceView* find_service(std::string_view name) const;
  /// The group has a live leader that the StatefulSet controller does not delete by scaling down.
  [[nodiscard]] bool has_lasting_leader(const Group& group) const {
    return group.has_live_leader() && group.index < leader_replicas();
  }
};

}  // namespace tpuslice::leaderworkerset
