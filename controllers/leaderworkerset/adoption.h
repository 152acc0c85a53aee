// Adoption: children that an earlier LeaderWorkerSet of the same name left behind, or a leader that was deleted with
// --cascade=orphan. They have our labels and no owner; their content is that of any other child.
#pragma once

#include "controllers/leaderworkerset/groups/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// Whether the StatefulSet of the leader set's name may be adopted.
[[nodiscard]] bool is_orphaned_leader_set(const LeaderWorkerSetSpec& spec, const StatefulSetView& set);

/// Whether the StatefulSet of the worker set's name may be adopted by the leader of `group`: it has the leader's
/// revision.
[[nodiscard]] bool is_orphaned_worker_set(const LeaderWorkerSetSpec& spec, const Group& group,
                                          const StatefulSetView& set);

/// Whether the revision has no owner, so that the set with its label kLwsName may adopt it.
[[nodiscard]] bool is_orphaned_revision(const ObjectView& revision);

/// A merge patch.
[[nodiscard]] Json adoption_patch(const ControllerRef& owner);

/// A patch that changes nothing but fails if the set has changed. It precedes adoptions: children of a set that is
/// being deleted with --cascade=orphan would be deleted as its dependents.
[[nodiscard]] plan::Action check_set(const LeaderWorkerSetObserved& seen);

/// Adopts a revision.
[[nodiscard]] plan::Action adopt_revision(const LeaderWorkerSetSpec& spec, const ObjectView& revision);

/// Adopts a leader set without an owner, and the revisions without one; groups follow in the next plan.
[[nodiscard]] plan::Plan plan_adoption(const LeaderWorkerSetObserved& seen, const StatefulSetView& leader_set);

}  // namespace tpuslice::leaderworkerset
