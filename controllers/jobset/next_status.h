// The status that a plan for a JobSet writes, and the events of changed conditions.
#pragma once

#include "controllers/jobset/decisions.h"
#include "controllers/plan/changes.h"

namespace tpuslice::jobset {

/// The status as observed before the plan's writes, with the result of the failure and success policies. Adds an event
/// to `changes` for each condition of upstream's that changed, as upstream does.
[[nodiscard]] JobSetStatus next_status(const JobSetState& state, const Decisions& decisions, plan::Changes& changes);

/// The status of a JobSet whose spec is refused.
[[nodiscard]] JobSetStatus refused_status(const JobSetState& state, const Problem& refusal, plan::Changes& changes);

}  // namespace tpuslice::jobset
