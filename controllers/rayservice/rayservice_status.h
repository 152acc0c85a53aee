// The status of a RayService: upstream's fields, and conditions of ours.
#pragma once

#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/decisions.h"

namespace tpuslice::rayservice {

/// The whole status after the decisions. Equal to the present one unless something but the time changed, and while the
/// service is being deleted. Adds the events of conditions that change.
[[nodiscard]] Json next_status(const RayServiceState& state, const Decisions& decisions, plan::Changes& changes);

/// What the conditions in next_status() depend on.
struct ConditionInput {
  const RayServiceState& state;
  const RunningDecisions& decisions;
  const Problem& refusal;
  std::string active_name;   ///< Name of the active cluster in the new status.
  std::string pending_name;  ///< Name of the pending cluster in the new status.
  int endpoints = 0;         ///< Number of ready endpoints of the serve service.
};

/// Updates the conditions of a service that runs. Adds the events of those that change.
void update_conditions(const ConditionInput& input, Json& conditions, plan::Changes& changes);

/// Updates a service that does not run: whether the spec is valid, and the generation.
void update_accepted(const RayServiceState& state, const Problem& refusal, Json& conditions, plan::Changes& changes);

/// Updates the conditions other than Ready and Accepted of a service whose initialization timed out.
void update_timed_out(const RayServiceState& state, const Problem& refusal, Json& conditions);

/// Updates the other conditions in a phase other than kRunning.
void update_suspension(const RayServiceState& state, SuspendPhase phase, Json& conditions);

}  // namespace tpuslice::rayservice
