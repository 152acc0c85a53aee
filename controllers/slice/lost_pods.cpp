#include "controllers/slice/lost_pods.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/slice/pod_patches.h"
#include "tpu/workload_ref.h"

namespace tpuslice::slice {

bool may_be_lost(const PodView& pod) {
  return pod.terminating() && !pod.node_name.empty() && !in_slice(pod) && pod.controller && !tpu::has_unique_name(pod);
}

std::optional<Timestamp> lost_at(const LostPodObserved& seen, const Options& options) {
  if (seen.node == nullptr || seen.node->ready || !seen.health) return std::nullopt;
  return seen.health->counts_from.value_or(seen.now) + options.node_timeout;
}

plan::Plan plan_lost_pod(const LostPodObserved& seen, const Options& options) {
  plan::Plan out;
  const std::optional<Timestamp> lost = lost_at(seen, options);
  if (!lost || !may_be_lost(*seen.pod)) return out;
  const PodView& pod = *seen.pod;
  const Timestamp due =
      std::max({*lost, *pod.deletion + options.lost_pod_timeout, seen.turn.value_or(Timestamp::min())});
  if (seen.now < due) {
    plan::requeue_within(out.requeue_after, due - seen.now);
    return out;
  }
  out.reason = fmt::format("pod {} is deleted without waiting for its node {}", pod.key.name, pod.node_name);
  out.stages.push_back({{delete_lost_pod(pod)}});
  return out;
}

}  // namespace tpuslice::slice
