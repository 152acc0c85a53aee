// The status of a RayService: upstream's fields, and conditions of ours.
#pragma once

#include "controllers/plan/changes.h"
#include "controllers/rayservice/decisions.h"

namespace tpuslice::rayservice {

/// The whole status after the decisions. Equal to the present one unless something but the time changed, and while the
/// service is being deleted. Adds the events of conditions that change.
[[nodiscard]] Json next_status(const RayServiceState& state, const Decisions& decisions, plan::Changes& changes);

}  // namespace tpuslice::rayservice
