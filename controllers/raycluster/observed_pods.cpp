#include "controllers/raycluster/observed_pods.h"

#include <algorithm>
#include <iterator>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {

std::string terminal_reason(const PodView& pod, std::string_view ray_container) {
  if (pod.phase == PodPhase::kFailed) return pod.cause().empty() ? "pod failed" : "pod failed: " + pod.cause();
  if (pod.phase == PodPhase::kSucceeded) return "pod succeeded";
  if (pod.phase != PodPhase::kRunning || pod.restart_policy != "Never") return {};
  const auto container = std::ranges::find(pod.containers, ray_container, &ContainerView::name);
  if (container == pod.containers.end() || !container->terminated) return {};
  if (const std::string failure = container->failure(); !failure.empty()) {
    return fmt::format("container {} terminated: {}", container->name, failure);
  }
  return fmt::format("container {} terminated: {}", container->name,
                     container->terminated_reason.empty() ? "no reason given" : container->terminated_reason);
}

bool is_available(const PodView& pod) { return pod.phase == PodPhase::kRunning && !pod.not_ready; }

std::optional<int> index_label(const PodView& pod, std::string_view label) {
  const std::string& text = pod.label(label);
  const std::optional<int> index = parse_count(text);
  return index && std::to_string(*index) == text ? index : std::nullopt;
}

std::vector<PodPtr> not_terminating(const std::vector<PodPtr>& pods) {
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out), [](const PodPtr& pod) { return !pod->terminating(); });
  return out;
}

PodsByType by_type(const std::vector<PodPtr>& pods) {
  PodsByType out;
  for (const PodPtr& pod : pods) {
    (pod->label(kRayNodeType) == kHeadNode ? out.heads : out.workers).push_back(pod);
  }
  return out;
}

}  // namespace tpuslice::raycluster
