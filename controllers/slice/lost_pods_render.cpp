// The plan for a pod on a lost node.
#include <algorithm>

#include <fmt/format.h>

#include "controllers/slice/lost_pods.h"
#include "controllers/slice/pod_patches.h"

namespace tpuslice::slice {

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
