#include "controllers/raycluster/suspension.h"

#include "api/types/conditions.h"

namespace tpuslice::raycluster {

SuspendPhase suspend_phase(const RayClusterSpec& spec, const Json& conditions, bool has_pods) {
  const bool suspended = is_condition_true(conditions, kSuspendedCondition);
  // Both are True only if another writer set them. The spec then decides, so that no pods are deleted unasked.
  if (is_condition_true(conditions, kSuspendingCondition) && !suspended) {
    return has_pods ? SuspendPhase::kDeletingPods : SuspendPhase::kPodsDeleted;
  }
  if (!spec.suspend) return SuspendPhase::kRunning;
  // A pod whose create had no reply may appear after suspension: the cluster is then suspended again.
  if (suspended && !has_pods) return SuspendPhase::kSuspended;
  return SuspendPhase::kRequested;
}

}  // namespace tpuslice::raycluster
