// Groups: a leader, its worker set and the workers of that, as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/revisions.h"
#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// A group of which nothing is there yet has only its index.
struct Group {
  int index = 0;
  PodPtr leader;                ///< Of our leader set; also one that is being deleted.
  StatefulSetPtr worker_set;    ///< The leader's own.
  StatefulSetPtr other_set;     ///< Of the worker set's name, but not this leader's: an earlier one's, or a stranger's.
  std::vector<PodPtr> workers;  ///< Of `worker_set`, by name; also those being deleted.
  int size = 1;                 ///< Pods, as the group's own revision has it.

  [[nodiscard]] std::string revision_key() const;  ///< Of the leader; empty without.
  /// The leader is Ready, and all workers are available.
  [[nodiscard]] bool ready() const;
  /// Leader and workers are made from that revision.
  [[nodiscard]] bool is_of(std::string_view key) const;
  /// Leader or workers are made from another one. A group whose workers are still to be made is not outdated.
  [[nodiscard]] bool is_outdated(std::string_view key) const;
  /// All pods are there, and none of them is on its way out.
  [[nodiscard]] bool complete() const;
};

/// All groups from 0 to `count` - 1 and those beyond it of which something is left. `leader_set` is null where there is
/// none that is ours.
[[nodiscard]] std::vector<Group> read_groups(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                             const StatefulSetView* leader_set, const std::vector<Revision>& revisions,
                                             int count);

/// A hash of the pods of a complete group: another pod, another hash.
[[nodiscard]] std::string members_of(const Group& group);

}  // namespace tpuslice::leaderworkerset
