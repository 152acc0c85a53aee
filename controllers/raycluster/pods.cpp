#include "controllers/raycluster/pods.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "controllers/raycluster/labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {

std::string death_of(const PodView& pod, std::string_view ray_container) {
  if (pod.phase == PodPhase::kFailed) return pod.reason.empty() ? "pod failed" : "pod failed: " + pod.reason;
  if (pod.phase == PodPhase::kSucceeded) return "pod succeeded";
  if (pod.phase != PodPhase::kRunning || pod.restart_policy != "Never") return {};
  const auto container = std::ranges::find(pod.containers, ray_container, &ContainerView::name);
  if (container == pod.containers.end() || !container->terminated) return {};
  return fmt::format("container {} ended: {}", container->name,
                     container->terminated_reason.empty() ? "no reason given" : container->terminated_reason);
}

std::optional<int> index_label(const PodView& pod, std::string_view label) {
  const std::string& text = pod.label(label);
  int out = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end.ec != std::errc() || out < 0 || std::to_string(out) != text) return std::nullopt;
  return out;
}

runtime::Action delete_pod(const PodView& pod, std::string_view failure_reason) {
  runtime::Action action = runtime::Action::remove(kPods, pod.key, {pod.uid, {}});
  action.failure_reason = failure_reason;
  return action;
}

runtime::Action create_pod(Object pod, std::string_view failure_reason) {
  runtime::Action action = runtime::Action::create(kPods, std::move(pod));
  action.failure_reason = failure_reason;
  return action;
}

runtime::Action create_pod(ObjectKey key, runtime::Body::Maker make, std::string_view failure_reason) {
  runtime::Action action = runtime::Action::create(kPods, std::move(key), std::move(make));
  action.failure_reason = failure_reason;
  return action;
}

PodsByType by_type(const std::vector<PodPtr>& pods) {
  PodsByType out;
  for (const PodPtr& pod : pods) {
    (pod->label(tpu::kRayNodeType) == kHeadNode ? out.heads : out.workers).push_back(pod);
  }
  return out;
}

}  // namespace tpuslice::raycluster
