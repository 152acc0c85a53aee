// The conditions of a RayService: upstream's, and ours.
#pragma once

#include <string>

#include "controllers/plan/changes.h"
#include "controllers/rayservice/decisions.h"
#include "controllers/rayservice/suspension.h"

namespace tpuslice::rayservice {

struct ConditionInput {
  const RayServiceState& state;
  const Decisions& decisions;
  const Problem& refusal;
  std::string active_name;   ///< Name of the active cluster in the new status.
  std::string pending_name;  ///< Name of the pending cluster in the new status.
  int endpoints = 0;         ///< Number of ready endpoints of the serve service.
};

/// Adds the events of conditions that change.
void update_conditions(const ConditionInput& input, Json& conditions, plan::Changes& changes);

/// Updates a service whose other conditions do not change: whether the spec is valid, and the generation.
void update_accepted(const RayServiceState& state, const Problem& refusal, Json& conditions, plan::Changes& changes);

/// Updates the conditions in a phase other than kRunning.
void update_suspension(const RayServiceState& state, SuspendPhase phase, const Problem& refusal, Json& conditions,
                       plan::Changes& changes);

}  // namespace tpuslice::rayservice
