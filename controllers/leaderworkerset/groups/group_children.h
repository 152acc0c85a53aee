// Children of a group: its worker set, and its service if each group has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/groups/group_deletions.h"
#include "controllers/leaderworkerset/leaderworkerset_state.h"
#include "controllers/leaderworkerset/sets/worker_set.h"
#include "controllers/plan/child.h"

namespace tpuslice::leaderworkerset {

/// The template of a revision.
struct RevisionTemplate {
  GroupTemplate group;
  bool workers_are_slices = false;  ///< See sets/placement.h.
};

struct WorkerSetDecision {
  enum class Kind : std::uint8_t {
    kNone,        ///< It is up to date, or waits for a change that causes a watch event.
    kCreate,      ///< There is none.
    kRestore,     ///< It drifted: apply `patch`.
    kRecord,      ///< The group is complete: `patch` records its pods.
    kAdopt,       ///< Group::other_set was left behind by an earlier leader: `patch` gives it this one.
    kConflict,    ///< A StatefulSet of another owner has its name.
    kNoNode,      ///< The node that the workers follow is not in the store yet.
    kNoTopology,  ///< The node has no label with the domain.
  };
  Kind kind = Kind::kNone;
  Domain domain = {};  ///< kCreate: the workers are placed there.
  Json patch = {};     ///< A merge patch.
};

struct GroupChildren {
  const Group* group = nullptr;  ///< Never null; has a live leader.
  /// Template of the revision of that leader. Shared, since worker sets are built when they are sent. Null if the
  /// revision does not exist: then there are no decisions.
  std::shared_ptr<const RevisionTemplate> revision = {};
  Leader leader = {};
  plan::ChildDecision service = {};
  WorkerSetDecision worker_set = {};

  /// Problems and children that are not up to date.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool has_writes() const;
};

/// Creates or repairs the children of groups with a live leader, from the revision of that leader, until
/// rules::kMaxCreatesPerPlan children are decided. Groups in `deletions`, groups of the revision `without` unless it is
/// empty, and groups whose children are up to date are left out.
[[nodiscard]] std::vector<GroupChildren> decide_group_children(const LeaderWorkerSetState& state,
                                                               const GroupDeletions& deletions,
                                                               const std::string& without);

}  // namespace tpuslice::leaderworkerset
