#include "controllers/rayservice/suspension.h"

#include <algorithm>

#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {

bool has_children(const RayServiceState& state) {
  return !state.clusters.all().empty() || std::ranges::any_of(state.seen.services, [&](const ObjectPtr& service) {
    return service->controller && service->controller->uid == state.spec.uid;
  });
}

SuspendPhase suspend_phase(const RayServiceState& state) {
  const Json& conditions = state.conditions();
  if (is_condition_true(conditions, kSuspendingCondition)) {
    return has_children(state) ? SuspendPhase::kDeleting : SuspendPhase::kDeleted;
  }
  if (is_condition_true(conditions, kSuspendedCondition)) {
    if (!state.spec.suspend) return SuspendPhase::kResumed;
    // A create whose reply was lost may show after suspension.
    return has_children(state) ? SuspendPhase::kDeleting : SuspendPhase::kSuspended;
  }
  return state.spec.suspend ? SuspendPhase::kRequested : SuspendPhase::kRunning;
}

}  // namespace tpuslice::rayservice
