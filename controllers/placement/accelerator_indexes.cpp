#include "controllers/placement/accelerator_indexes.h"

#include <optional>
#include <string>

#include "controllers/placement/slices.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

std::optional<std::string> pod_accelerator(const PodView& pod) {
  if (!is_considered(pod) || tpu::chips_of(pod) == 0) return std::nullopt;
  return accelerator_of(pod.scheduling->node_selector);
}

std::optional<std::string> waiting_pod_accelerator(const PodView& pod) {
  const bool waits = is_live(pod) && (is_gated(pod) || !pod.annotation(tpu::kWaitingReason).empty());
  return waits || !pod.annotation(tpu::kScaleUpFor).empty() ? pod_accelerator(pod) : std::nullopt;
}

std::optional<std::string> scout_accelerator(const PodView& pod) {
  return pod.annotation(tpu::kScaleUpFor).empty() ? std::nullopt : pod_accelerator(pod);
}

std::optional<std::string> bound_pod_without_tpus(const PodView& pod) {
  if (!is_considered(pod) || tpu::chips_of(pod) > 0 || pod.node_name.empty()) return std::nullopt;
  return std::string();
}

std::optional<std::string> node_accelerator(const NodeView& node) {
  std::string accelerator = accelerator_of(node.labels);
  if (accelerator.empty()) return std::nullopt;
  return accelerator;
}

}  // namespace

AcceleratorIndexes::AcceleratorIndexes(const runtime::PodStores& pod_stores, runtime::NodeStore& node_store)
    : pods(pod_stores.add_index(pod_accelerator)),
      waiting_pods(pod_stores.add_index(waiting_pod_accelerator)),
      scouts(pod_stores.add_index(scout_accelerator)),
      pods_without_tpus(pod_stores.add_index(bound_pod_without_tpus)),
      nodes(node_store.add_index(node_accelerator)) {}

}  // namespace tpuslice::placement
