#include "controllers/raycluster/suspend.h"

#include "api/types/conditions.h"
#include "controllers/raycluster/labels.h"

namespace tpuslice::raycluster {

SuspendPhase suspend_phase(const RayClusterSpec& spec, const Json& conditions, bool has_pods) {
  if (is_condition_true(conditions, kSuspendingCondition))
    return has_pods ? SuspendPhase::kDeleting : SuspendPhase::kEnding;
  if (!spec.suspend) return SuspendPhase::kRunning;
  // Pods that appeared after suspension (a create whose reply was lost) are taken away in the same orderly way.
  if (is_condition_true(conditions, kSuspendedCondition) && !has_pods) return SuspendPhase::kSuspended;
  return SuspendPhase::kBeginning;
}

Changes plan_suspension(const RayClusterSpec& spec, const std::vector<PodPtr>& pods) {
  Changes out;
  for (const PodPtr& pod : pods) {
    if (!pod->terminating()) out.deletes.push_back(delete_pod(*pod, kFailedDeleteAllPods));
  }
  if (out.deletes.empty()) return out;
  out.reasons.push_back(
      fmt::format("the cluster is being suspended: deleting {} of its {} pods", out.deletes.size(), pods.size()));
  out.events.push_back({runtime::EventType::kNormal, "DeletedPod", "DeletePod",
                        fmt::format("Deleted Pods for RayCluster {} due to suspension", spec.key.to_string()),
                        out.deletes.back().key});
  out.events.push_back({runtime::EventType::kWarning, "FailedToDeletePod", "DeletePod",
                        fmt::format("Failed to delete Pods for RayCluster {} due to suspension", spec.key.to_string()),
                        out.deletes.front().key});
  return out;
}

}  // namespace tpuslice::raycluster
