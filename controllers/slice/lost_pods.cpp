#include "controllers/slice/lost_pods.h"

#include "tpu/workload_ref.h"

namespace tpuslice::slice {

bool may_be_lost(const PodView& pod) {
  return pod.terminating() && !pod.node_name.empty() && !in_slice(pod) && pod.controller && !tpu::has_unique_name(pod);
}

std::optional<Timestamp> lost_at(const LostPodObserved& seen, const Options& options) {
  if (seen.node == nullptr || seen.node->ready || !seen.health) return std::nullopt;
  return seen.health->counts_from.value_or(seen.now) + options.node_timeout;
}

}  // namespace tpuslice::slice
