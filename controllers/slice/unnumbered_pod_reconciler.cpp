#include "controllers/slice/unnumbered_pod_reconciler.h"

#include "controllers/slice/unnumbered_pods.h"

namespace tpuslice::slice {

std::vector<ObjectKey> unnumbered_pod(const PodView& pod) {
  return pod.node_name.empty() && is_unnumbered(pod) ? std::vector{pod.key} : std::vector<ObjectKey>();
}

Result<plan::Plan> UnnumberedPodReconciler::plan(const plan::ReconcileInput& input) const {
  for (const runtime::PodStore* store : pods_) {
    if (const PodPtr pod = store->get(input.key)) return plan_unnumbered_pod(*pod, input.now);
  }
  return plan::Plan{};
}

}  // namespace tpuslice::slice
