#include "controllers/raycluster/head.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/types/conditions.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {

PodPtr choose_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads) {
  const std::string ray_container = spec.head.ray_container();
  const auto rank = [&](const PodPtr& pod) {
    return std::tuple(!terminal_reason(*pod, ray_container).empty(), pod->terminating(),
                      pod->created.value_or(Timestamp::max()), pod->key);
  };
  const auto best = std::ranges::min_element(heads, {}, rank);
  return best == heads.end() ? nullptr : *best;
}

bool lacks_live_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads) {
  const std::string ray_container = spec.head.ray_container();
  return std::ranges::all_of(
      heads, [&](const PodPtr& pod) { return pod->terminating() || !terminal_reason(*pod, ray_container).empty(); });
}

bool keeps_lost_head(const RayClusterSpec& spec, const Object& cluster) {
  const auto annotation = spec.annotations.find(kDisableHeadRestart);
  return annotation != spec.annotations.end() && annotation->second == "true" &&
         is_condition_true(array_at(cluster.json(), {"status", "conditions"}), kProvisioned);
}

HeadDecision decide_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads, bool may_create,
                         const Options& options) {
  HeadDecision out;
  const PodPtr chosen = choose_head(spec, heads);
  for (const PodPtr& pod : heads) {
    if (pod->terminating()) continue;
    const std::string terminal = terminal_reason(*pod, spec.head.ray_container());
    if (!terminal.empty()) {
      out.deletes.push_back({pod, fmt::format("will not run again ({})", terminal)});
    } else if (pod != chosen) {
      out.deletes.push_back({pod, fmt::format("is surplus beside {}", chosen->key.name)});
    }
  }
  if (chosen != nullptr || !may_create) return out;
  Result<Object> pod = build_head_pod(spec, options);
  if (pod) {
    out.create = *std::move(pod);
  } else {
    out.error = pod.error().message();
  }
  return out;
}

}  // namespace tpuslice::raycluster
