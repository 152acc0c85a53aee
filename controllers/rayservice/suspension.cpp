#include "controllers/rayservice/suspension.h"

#include <algorithm>

#include "controllers/rayservice/gateway.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

/// Children that are to be deleted, or are being deleted.
bool has_children(const RayServiceState& state) {
  return !state.clusters.all().empty() || !own_services(state).empty() || own_gateway(state) != nullptr ||
         own_http_route(state) != nullptr;
}

}  // namespace

std::vector<ObjectPtr> own_services(const RayServiceState& state) {
  std::vector<ObjectPtr> out;
  for (const ObjectPtr& service : state.seen.services) {
    if (service->controller && service->controller->uid == state.spec.uid) out.push_back(service);
  }
  std::ranges::sort(out, {}, [](const ObjectPtr& service) { return service->key; });
  return out;
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
