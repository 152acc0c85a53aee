#include "controllers/slice/reconcilers.h"

#include <utility>

#include "controllers/slice/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

const std::string& accelerator_of(const StringMap& labels) { return value_of(labels, tpu::kAcceleratorLabel); }

bool is_labelled(const PodView& pod) { return !pod.label(tpu::kSlice).empty(); }

// Index functions.

std::optional<std::string> pod_accelerator(const PodView& pod) {
  if (!is_labelled(pod) || pod.tpu_chips == 0) return std::nullopt;
  return accelerator_of(pod.scheduling->node_selector);
}

std::optional<std::string> waiting_pod_accelerator(const PodView& pod) {
  const bool gated = is_gated(pod) && is_live(pod);
  return gated || !pod.annotation(tpu::kScoutFor).empty() ? pod_accelerator(pod) : std::nullopt;
}

std::optional<std::string> bound_pod_without_tpus(const PodView& pod) {
  if (!is_labelled(pod) || pod.tpu_chips > 0 || pod.node_name.empty()) return std::nullopt;
  return std::string();
}

std::optional<std::string> pod_node(const PodView& pod) {
  if (!is_labelled(pod) || pod.node_name.empty()) return std::nullopt;
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

std::optional<std::string> request_accelerator(const ProvisioningRequestView& request) {
  std::string accelerator = accelerator_of_request(request.annotations);
  if (accelerator.empty()) return std::nullopt;
  return accelerator;
}

std::optional<std::string> template_accelerator(const MetadataView& pod_template) {
  std::string accelerator = accelerator_of_request(pod_template.annotations);
  if (accelerator.empty()) return std::nullopt;
  return accelerator;
}

Indexes::Indexes(const runtime::PodStores& pods, runtime::NodeStore& nodes)
    : pods_by_accelerator(pods.add_index(pod_accelerator)),
      waiting_pods_by_accelerator(pods.add_index(waiting_pod_accelerator)),
      bound_pods_without_tpus(pods.add_index(bound_pod_without_tpus)),
      pods_by_node(pods.add_index(pod_node)),
      pods_by_slice(pods.add_index(pod_slice)),
      nodes_by_accelerator(nodes.add_index(node_accelerator)) {}

std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod) {
  if (!is_labelled(pod)) return {};
  const std::string accelerator = pod.tpu_chips == 0 ? std::string() : accelerator_of(pod.scheduling->node_selector);
  if (!accelerator.empty()) return {{"", accelerator}};
  const NodePtr node = pod.node_name.empty() ? nullptr : nodes.get({"", pod.node_name});
  return node == nullptr ? std::vector<ObjectKey>() : accelerator_of_node(*node);
}

std::vector<ObjectKey> accelerator_of_node(const NodeView& node) {
  const std::string accelerator = accelerator_of(node.labels);
  if (accelerator.empty()) return {};
  return {{"", accelerator}};
}

std::vector<ObjectKey> accelerators_of_records(const PreemptionRecords& records) {
  std::vector<ObjectKey> keys;
  for (const auto& [accelerator, record] : records.data) keys.push_back({"", accelerator});
  return keys;
}

std::vector<ObjectKey> slice_of_pod(const PodView& pod) {
  if (!in_slice(pod)) return {};
  return {slice_key(pod)};
}

std::vector<ObjectKey> slices_on_node(const Indexes& indexes, const NodeView& node) {
  std::vector<ObjectKey> keys;
  for (const PodPtr& pod : indexes.pods_by_node.lookup(node.key.name)) {
    for (ObjectKey& key : slice_of_pod(*pod)) keys.push_back(std::move(key));
  }
  return keys;
}

Result<plan::Plan> PlacementReconciler::plan(const plan::ReconcileInput& input) const {
  PlacementObserved seen;
  seen.accelerator = input.key.name;
  seen.now = input.now;
  if (autoscaler_.requests) seen.provisioning.requests = autoscaler_.requests->lookup(input.key.name);
  if (autoscaler_.templates) seen.provisioning.templates = autoscaler_.templates->lookup(input.key.name);
  // Without a gated pod or a scout there is nothing to place, so pods and nodes are not read.
  if (!indexes_.waiting_pods_by_accelerator.lookup(input.key.name).empty()) {
    seen.pods = indexes_.pods_by_accelerator.lookup(input.key.name);
    std::vector<PodPtr> without_accelerator = indexes_.pods_by_accelerator.lookup("");
    seen.pods.insert(seen.pods.end(), without_accelerator.begin(), without_accelerator.end());
    seen.pods_without_tpus = indexes_.bound_pods_without_tpus.lookup("");
    seen.nodes = indexes_.nodes_by_accelerator.lookup(input.key.name);
    seen.domain_failures = histories_.failures->recent(input.now);
    seen.removed_hosts = histories_.removed_hosts->all();
    if (preemptions_ != nullptr && preemptions_->synced()) {
      const ObjectKey key{options_.scale_up.namespace_name, std::string(kPreemptionsConfigMap)};
      seen.preemptions = {true, preemptions_->get(key)};
    }
    seen.has_autoscaler = autoscaler_.status != nullptr && has_autoscaler(*autoscaler_.status, input.now);
  }
  return plan_placement(seen, options_);
}

Result<plan::Plan> SliceReconciler::plan(const plan::ReconcileInput& input) const {
  SliceObserved seen{input.key,
                     indexes_.pods_by_slice.lookup(input.key.to_string()),
                     {},
                     input.now,
                     node_health_->healthy_since(input.now),
                     removed_hosts_->of(input.key)};
  for (const PodPtr& pod : seen.pods) {
    if (pod->node_name.empty()) continue;
    NodePtr node = nodes_.get({"", pod->node_name});
    if (node && !accelerator_of_node(*node).empty()) seen.nodes.emplace(pod->node_name, std::move(node));
  }
  return plan_slice(seen, options_);
}

}  // namespace tpuslice::slice
