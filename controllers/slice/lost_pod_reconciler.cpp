#include "controllers/slice/lost_pod_reconciler.h"

#include "controllers/slice/lost_pods.h"

namespace tpuslice::slice {

std::optional<std::string> node_of_lost_pod(const PodView& pod) {
  if (!may_be_lost(pod)) return std::nullopt;
  return pod.node_name;
}

std::vector<ObjectKey> lost_pod(const Workloads& workloads, const PodView& pod) {
  if (!may_be_lost(pod) || !workloads.serves(pod.controller->api_version, pod.controller->kind)) return {};
  return {pod.key};
}

Result<plan::Plan> LostPodReconciler::plan(const plan::ReconcileInput& input) const {
  LostPodObserved seen{nullptr, nullptr, {}, input.now};
  for (const runtime::PodStore* store : pods_) {
    if (seen.pod = store->get(input.key); seen.pod != nullptr) break;
  }
  // Whether a minimal node is Ready is unknown.
  if (seen.pod != nullptr && !seen.pod->minimal) seen.node = nodes_.get({"", seen.pod->node_name});
  if (seen.node != nullptr && !seen.node->minimal && !seen.node->ready) {
    seen.health =
        has_tpus(*seen.node) ? node_health_->not_ready(*seen.node) : node_health_->not_ready_without_tpus(*seen.node);
  }
  const std::optional<Timestamp> lost = lost_at(seen, options_);
  if (!lost) {
    rate_->forget(input.key);
    return plan::Plan{};
  }
  if (seen.now >= *lost) seen.turn = rate_->turn_of(input.key, seen.now);
  return plan_lost_pod(seen, options_);
}

}  // namespace tpuslice::slice
