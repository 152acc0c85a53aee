#include "controllers/slice/indexes.h"

#include <optional>
#include <string>

#include "controllers/slice/slice.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

std::optional<std::string> pod_accelerator(const PodView& pod) {
  if (!is_considered(pod) || tpu::chips_of(pod) == 0) return std::nullopt;
  return accelerator_of(pod.scheduling->node_selector);
}

std::optional<std::string> waiting_pod_accelerator(const PodView& pod) {
  const bool gated = is_gated(pod) && is_live(pod);
  return gated || !pod.annotation(tpu::kScaleUpFor).empty() ? pod_accelerator(pod) : std::nullopt;
}

std::optional<std::string> scout_accelerator(const PodView& pod) {
  return pod.annotation(tpu::kScaleUpFor).empty() ? std::nullopt : pod_accelerator(pod);
}

std::optional<std::string> bound_pod_without_tpus(const PodView& pod) {
  if (!is_considered(pod) || tpu::chips_of(pod) > 0 || pod.node_name.empty()) return std::nullopt;
  return std::string();
}

std::optional<std::string> pod_node(const PodView& pod) {
  if (!is_considered(pod) || pod.node_name.empty()) return std::nullopt;
  return pod.node_name;
}

std::optional<std::string> pod_slice(const PodView& pod) {
  if (!in_slice(pod)) return std::nullopt;
  return slice_key(pod).to_string();
}

std::optional<std::string> node_accelerator(const NodeView& node) {
  std::string accelerator = accelerator_of(node.labels);
  if (accelerator.empty()) return std::nullopt;
  return accelerator;
}

}  // namespace

Indexes::Indexes(const runtime::PodStores& pods, runtime::NodeStore& nodes)
    : pods_by_accelerator(pods.add_index(pod_accelerator)),
      waiting_pods_by_accelerator(pods.add_index(waiting_pod_accelerator)),
      scouts_by_accelerator(pods.add_index(scout_accelerator)),
      bound_pods_without_tpus(pods.add_index(bound_pod_without_tpus)),
      pods_by_node(pods.add_index(pod_node)),
      pods_by_slice(pods.add_index(pod_slice)),
      nodes_by_accelerator(nodes.add_index(node_accelerator)) {}

}  // namespace tpuslice::slice
