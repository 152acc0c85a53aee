// Groups: leaders, worker sets and workers as observed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/rollout/revisions.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "tpu/rules/limits.h"

namespace tpuslice::leaderworkerset {

/// A group without any objects has only an index.
struct Group {
  int index = 0;
  PodPtr leader;                ///< Controlled by our leader set; may be terminating.
  StatefulSetPtr worker_set;    ///< Controlled by `leader`.
  StatefulSetPtr other_set;     ///< Has the worker set's name, but another owner: a previous leader, or none of ours.
  std::vector<PodPtr> workers;  ///< Controlled by `worker_set`, sorted by name; may be terminating.
  int size = 1;                 ///< Pods, by the group's own revision.

  [[nodiscard]] const std::string& revision_key() const;  ///< Revision of the leader; empty without one.
  /// The leader exists and is not terminating.
  [[nodiscard]] bool has_live_leader() const { return leader != nullptr && !leader->terminating(); }
  /// The leader is Ready and all workers are available.
  [[nodiscard]] bool ready() const;
  /// Leader and workers have that revision.
  [[nodiscard]] bool has_revision(std::string_view key) const;
  /// Leader or workers have another revision. A group without a worker set yet is not outdated.
  [[nodiscard]] bool is_outdated(std::string_view key) const;
  /// All pods exist, and none is terminating.
  [[nodiscard]] bool complete() const;
  /// All pods exist, and none is Pending.
  [[nodiscard]] bool started() const;
};

/// Groups of a set with the largest surge.
inline constexpr int kMaxGroups = 2 * static_cast<int>(rules::kMaxChildren);

/// Groups 0 to `count` - 1, and higher ones below kMaxGroups that still have a leader. `leader_set` is null if it does
/// not exist.
[[nodiscard]] std::vector<Group> read_groups(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                                             const StatefulSetView* leader_set, const std::vector<Revision>& revisions,
                                             int count);

/// Hash of the pod UIDs of a complete group.
[[nodiscard]] std::string members_hash(const Group& group);

}  // namespace tpuslice::leaderworkerset
