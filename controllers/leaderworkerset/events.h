// Events of a LeaderWorkerSet, with types, reasons, actions, messages and related objects as upstream; its counter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/types/views.h"
#include "controllers/leaderworkerset/groups/restarts.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// Counted once the leader of the group is deleted.
inline const plan::CounterDefinition kGroupRestarts{"tpuslice_leaderworkerset_restarts_total",
                                                    "Group restarts of LeaderWorkerSets."};

/// Why a revision is created.
enum class RevisionOrigin : std::uint8_t { kNewSet, kUpdatedSet, kDeletedRevision };

/// The event after the create of `revision`, whose key is `key`.
[[nodiscard]] plan::EventIntent revision_created(const plan::ObjectReference& revision, std::string_view key,
                                                 RevisionOrigin origin);

/// The event after the create of the leader set.
[[nodiscard]] plan::EventIntent leader_set_created(const LeaderWorkerSetSpec& spec,
                                                   const plan::ObjectReference& revision);

/// Ours: the event after the patch that restores the leader set's pod template. `members`: what others had changed.
[[nodiscard]] plan::EventIntent leader_template_restored(const LeaderWorkerSetSpec& spec, std::string_view members,
                                                         const plan::ObjectReference& revision);

/// The event after the patch of the leader set that lowers the partition to `first`: groups `first` to `last` are
/// updated.
[[nodiscard]] plan::EventIntent groups_updating(std::int64_t first, std::int64_t last,
                                                const plan::ObjectReference& revision);

/// The event after the patch of the leader set that lowers the replicas to `first`: groups `first` to `last` are
/// deleted.
[[nodiscard]] plan::EventIntent surge_groups_deleted(const LeaderWorkerSetSpec& spec, std::int64_t first,
                                                     std::int64_t last);

/// The event after the create of the worker set of `leader`.
[[nodiscard]] plan::EventIntent worker_set_created(const PodView& leader);

/// The event after the deletion of `leader`. A failure that upstream does not know has a message of our own.
[[nodiscard]] plan::EventIntent group_recreated(const PodView& leader, int group, const GroupFailure& failure);

/// The event after a status in which one of upstream's conditions changed. `reason` and `message`: of the condition.
[[nodiscard]] plan::EventIntent condition_changed(std::string_view reason, std::string_view message, int ready,
                                                  int replicas);

/// The event after `action` failed. `leader`: of a worker set, or null.
[[nodiscard]] plan::EventIntent write_failed(const LeaderWorkerSetSpec& spec, const plan::Action& action,
                                             const PodView* leader);

}  // namespace tpuslice::leaderworkerset
