#include "controllers/raycluster/head_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "controllers/raycluster/labels.h"
#include "controllers/raycluster/pod_builder.h"

namespace tpuslice::raycluster {
namespace {

using runtime::EventType;

void remove_head(const PodView& pod, const std::string& why, Changes& out) {
  if (pod.terminating()) return;
  out.deletes.push_back(delete_pod(pod, kFailedDeleteHeadPod));
  out.reasons.push_back(fmt::format("head pod {} {}: deleting it", pod.key.name, why));
  out.events.push_back({EventType::kNormal, "DeletedHeadPod", "DeleteHeadPod",
                        fmt::format("Deleted head Pod {}: it {}", pod.key.to_string(), why), pod.key});
  out.events.push_back({EventType::kWarning, "FailedToDeleteHeadPod", "DeleteHeadPod",
                        fmt::format("Failed to delete head Pod {}", pod.key.to_string()), pod.key});
}

void create_head(const RayClusterSpec& spec, const Options& options, Changes& out) {
  Result<Object> pod = build_head_pod(spec, options);
  if (!pod) {
    out.refused.push_back(pod.error().message());
    return;
  }
  const ObjectKey key = pod->key();
  out.creates.push_back(create_pod(*std::move(pod), kFailedCreateHeadPod));
  out.reasons.push_back("the head pod is missing: creating it");
  out.events.push_back({EventType::kNormal, "CreatedHeadPod", "CreateHeadPod",
                        fmt::format("Created head Pod {}", key.to_string()), key});
  out.events.push_back({EventType::kWarning, "FailedToCreateHeadPod", "CreateHeadPod",
                        fmt::format("Failed to create head Pod {}", key.to_string()), key});
}

}  // namespace

PodPtr choose_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads) {
  const std::string ray_container = spec.head.ray_container();
  const auto rank = [&](const PodPtr& pod) {
    return std::tuple(!death_of(*pod, ray_container).empty(), pod->terminating(),
                      pod->created.value_or(Timestamp::max()), pod->key);
  };
  const auto best = std::ranges::min_element(heads, {}, rank);
  return best == heads.end() ? nullptr : *best;
}

Changes plan_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads, const Options& options) {
  Changes out;
  const PodPtr chosen = choose_head(spec, heads);
  if (chosen == nullptr) {
    create_head(spec, options, out);
    return out;
  }
  for (const PodPtr& pod : heads) {
    const std::string death = death_of(*pod, spec.head.ray_container());
    if (!death.empty()) {
      remove_head(*pod, fmt::format("is dead ({})", death), out);
    } else if (pod != chosen) {
      remove_head(*pod, fmt::format("is one too many beside {}", chosen->key.name), out);
    }
  }
  return out;
}

}  // namespace tpuslice::raycluster
