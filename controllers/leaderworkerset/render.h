// Renders decisions: actions, events, metrics and the status of a plan.
#pragma once

#include <optional>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/decisions.h"
#include "controllers/plan/child.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

[[nodiscard]] plan::Plan render(const LeaderWorkerSetState& state, const Decisions& decisions);

/// The plan for a spec that is refused: existing groups continue, and can be scaled down; the condition Accepted and an
/// event report it. `fewer_groups`: decide_refused()'s.
[[nodiscard]] plan::Plan render_refusal(const LeaderWorkerSetObserved& seen, const Problem& refusal,
                                        std::optional<int> fewer_groups);

/// The plan while a StatefulSet of another owner has the name of the leader set: a condition reports it. There is an
/// event, unless the owner is an earlier LeaderWorkerSet of the same name, whose StatefulSet is being deleted.
[[nodiscard]] plan::Plan render_conflict(const LeaderWorkerSetObserved& seen, const StatefulSetView& other,
                                         plan::Ownership ownership);

}  // namespace tpuslice::leaderworkerset
