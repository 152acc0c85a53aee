// Renders decisions: actions, events, metrics and the status of a plan.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "controllers/jobset/decisions.h"

namespace tpuslice::jobset {

/// The counters that plans increment.
extern const std::array<const plan::CounterDefinition*, 5> kCounters;

/// `builder` builds the new Jobs when they are sent, so it outlives the observation.
[[nodiscard]] plan::Plan render(const JobSetState& state, const Decisions& decisions,
                                const std::shared_ptr<const JobBuilder>& builder);

/// The plan for a JobSet of another controller: deletes it if it is due. Its status is that controller's.
[[nodiscard]] plan::Plan render_expiry(const JobSetState& state, const Cleanup& expiry);

/// The plan for a spec that is refused: existing Jobs continue, except those of `suspend`; the condition Accepted and
/// an event report it.
[[nodiscard]] plan::Plan render_refusal(const JobSetState& state, const Problem& refusal,
                                        const std::vector<JobPtr>& suspend);

}  // namespace tpuslice::jobset
