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
  std::string active_name;   ///< As in the new status.
  std::string pending_name;  ///< Likewise.
  int endpoints = 0;         ///< Of the serve service.
};

/// Adds the events of conditions that change.
void update_conditions(const ConditionInput& input, Json& conditions, plan::Changes& changes);

/// Of a service whose other conditions do not change: whether the spec is valid, and the generation.
void update_accepted(const RayServiceState& state, const Problem& refusal, Json& conditions, plan::Changes& changes);

/// In a phase other than kRunning.
void update_suspension(const RayServiceState& state, SuspendPhase phase, const Problem& refusal, Json& conditions,
                       plan::Changes& changes);

}  // namespace tpuslice::rayservice
