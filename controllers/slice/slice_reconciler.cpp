#include "controllers/slice/slice_reconciler.h"

#include <algorithm>
#include <utility>

#include "controllers/plan/whole.h"
#include "controllers/slice/slice_plan.h"

namespace tpuslice::slice {

std::vector<ObjectKey> slice_of_pod(const PodView& pod) {
  if (!in_slice(pod)) return {};
  return {slice_key(pod)};
}

std::vector<ObjectKey> slices_on_node(const Indexes& indexes, const NodeView& node) {
  std::vector<ObjectKey> keys;
  for (const PodPtr& pod : indexes.pods_by_node.lookup(node.key.name)) {
    for (ObjectKey& key : slice_of_pod(*pod)) keys.push_back(std::move(key));
  }
  return keys;
}

Result<plan::Plan> SliceReconciler::plan(const plan::ReconcileInput& input) const {
  SliceObserved seen{input.key,
                     indexes_.pods_by_slice.lookup(input.key.to_string()),
                     {},
                     input.now,
                     {},
                     histories_.removed_hosts->of(input.key),
                     histories_.writes->failed_writes()};
  if (auto waits = plan::wait_until_whole(input.key, seen.pods)) {
    waits->events.clear();  // A slice is not an API object.
    return *std::move(waits);
  }
  // Only a started slice that has lost a pod depends on it. The lost pod may be of an earlier workload of that name.
  const auto started =
      std::ranges::find_if(seen.pods, [](const PodPtr& pod) { return is_live(*pod) && !is_gated(*pod); });
  if (started != seen.pods.end() && !std::ranges::all_of(seen.pods, [](const PodPtr& pod) { return is_live(*pod); })) {
    seen.workload_ends = workloads_->state_of(workload_of(**started)) == WorkloadState::kEnds;
  }
  for (const PodPtr& pod : seen.pods) {
    if (pod->node_name.empty()) continue;
    NodePtr node = find_tpu_node(nodes_, pod->node_name);
    // Whether a minimal node is Ready is unknown, so it does not count as lost. Kubernetes evicts the pods of lost
    // nodes.
    if (node == nullptr || node->minimal) continue;
    if (!node->ready) seen.not_ready.emplace(pod->node_name, node_health_->not_ready(*node));
    seen.nodes.emplace(pod->node_name, std::move(node));
  }
  if (has_lost_node(seen, options_)) {
    seen.teardown_turn = teardown_rate_->turn_of(input.key, input.now);
  } else {
    teardown_rate_->forget(input.key);
  }
  return plan_slice(seen, options_);
}

}  // namespace tpuslice::slice
