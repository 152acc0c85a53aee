#include "controllers/slice/reconcilers.h"

#include <utility>

#include "controllers/slice/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

std::string of_accelerator(std::string_view accelerator) { return "accelerator/" + std::string(accelerator); }
/// Pods that wait for us, by accelerator.
std::string waiting_for(std::string_view accelerator) { return "waiting/" + std::string(accelerator); }
std::string on_node(std::string_view node) { return "node/" + std::string(node); }
std::string of_slice(const ObjectKey& key) { return "slice/" + key.to_string(); }

std::string accelerator_of(const StringMap& labels) {
  const auto found = labels.find(tpu::kAcceleratorLabel);
  return found == labels.end() ? std::string() : found->second;
}

bool is_marked(const PodView& pod) { return !pod.label(tpu::kSlice).empty(); }

bool in_slice(const PodView& pod) { return is_marked(pod) && pod.label(tpu::kSlice) != tpu::kNoSlice; }

}  // namespace

std::vector<std::string> pod_index(const PodView& pod) {
  std::vector<std::string> groups;
  if (!is_marked(pod)) return groups;
  const std::string accelerator = accelerator_of(pod.node_selector);
  if (pod.tpu_chips > 0) {
    groups.push_back(of_accelerator(accelerator));
    if (is_gated(pod) && is_live(pod)) groups.push_back(waiting_for(accelerator));
  }
  if (!pod.node_name.empty()) groups.push_back(on_node(pod.node_name));
  if (in_slice(pod)) groups.push_back(of_slice({pod.key.namespace_name, pod.label(tpu::kSlice)}));
  return groups;
}

std::vector<std::string> node_index(const NodeView& node) {
  const std::string accelerator = accelerator_of(node.labels);
  if (accelerator.empty()) return {};
  return {of_accelerator(accelerator)};
}

std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod) {
  if (!is_marked(pod) || pod.tpu_chips == 0) return {};
  const std::string accelerator = accelerator_of(pod.node_selector);
  if (!accelerator.empty()) return {{"", accelerator}};
  const NodePtr node = pod.node_name.empty() ? nullptr : nodes.get({"", pod.node_name});
  return node == nullptr ? std::vector<ObjectKey>() : accelerator_of_node(*node);
}

std::vector<ObjectKey> accelerator_of_node(const NodeView& node) {
  const std::string accelerator = accelerator_of(node.labels);
  if (accelerator.empty()) return {};
  return {{"", accelerator}};
}

std::vector<ObjectKey> slice_of_pod(const PodView& pod) {
  if (!in_slice(pod)) return {};
  return {{pod.key.namespace_name, pod.label(tpu::kSlice)}};
}

std::vector<PodPtr> pods_on_node(const runtime::PodStores& pods, const std::string& node) {
  return pods.lookup(on_node(node));
}

std::vector<ObjectKey> slices_on_node(const runtime::PodStores& pods, const NodeView& node) {
  std::vector<ObjectKey> keys;
  for (const PodPtr& pod : pods_on_node(pods, node.key.name)) {
    for (ObjectKey& key : slice_of_pod(*pod)) keys.push_back(std::move(key));
  }
  return keys;
}

Result<runtime::Plan> PlacementReconciler::plan(const runtime::ReconcileInput& input) const {
  PlacementObserved seen;
  seen.accelerator = input.key.name;
  seen.now = input.now;
  // Without a pod that waits there is nothing to decide, however large the cluster.
  if (!pods_.lookup(waiting_for(input.key.name)).empty()) {
    seen.pods = pods_.lookup(of_accelerator(input.key.name));
    std::vector<PodPtr> undecided = pods_.lookup(of_accelerator(""));
    seen.pods.insert(seen.pods.end(), undecided.begin(), undecided.end());
    seen.nodes = nodes_.lookup(of_accelerator(input.key.name));
    seen.troubles = troubles_->recent(input.now);
  }
  return plan_placement(seen, options_);
}

Result<runtime::Plan> SliceReconciler::plan(const runtime::ReconcileInput& input) const {
  SliceObserved seen{input.key, pods_.lookup(of_slice(input.key)), {}, input.now};
  for (const PodPtr& pod : seen.pods) {
    if (pod->node_name.empty()) continue;
    NodePtr node = nodes_.get({"", pod->node_name});
    if (node && !accelerator_of_node(*node).empty()) seen.nodes.emplace(pod->node_name, std::move(node));
  }
  return plan_slice(seen, options_);
}

}  // namespace tpuslice::slice
