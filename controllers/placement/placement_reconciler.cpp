#include "controllers/placement/placement_reconciler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/placement/placement_plan.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"

namespace tpuslice::placement {

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

std::vector<ObjectKey> accelerator_of_pod(const runtime::NodeStore& nodes, const PodView& pod) {
  if (!is_considered(pod)) return {};
  const std::string accelerator =
      tpu::chips_of(pod) == 0 ? std::string() : accelerator_of(pod.scheduling->node_selector);
  if (!accelerator.empty()) return {{"", accelerator}};
  const NodePtr node = slice::find_tpu_node(nodes, pod.node_name);
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

Result<plan::Plan> PlacementReconciler::plan(const plan::ReconcileInput& input) const {
  const std::string& accelerator = input.key.name;
  PlacementObserved seen;
  seen.now = input.now;
  seen.failed_writes = histories_.writes->failed_writes();
  if (autoscaler_.requests) seen.provisioning.requests = autoscaler_.requests->lookup(accelerator);
  if (autoscaler_.templates) seen.provisioning.templates = autoscaler_.templates->lookup(accelerator);
  // Without a gated pod or a scout there is nothing to place, so pods and nodes are not read.
  if (!by_accelerator_.waiting_pods.contains(accelerator)) {
    caches_->drop(accelerator);
    AcceleratorCache empty(accelerator, options_);
    return plan_placement(seen, empty, options_);
  }
  seen.scouts = scouts(accelerator);
  seen.domain_failures = histories_.failures->recent(input.now);
  seen.unstable = histories_.failures->unstable(input.now);
  seen.rejected = histories_.rejections->rejected();
  const std::shared_ptr<const FormerPlaces> places = histories_.places->places();
  seen.places = recent_places(*places, input.now);
  if (preemptions_ != nullptr && preemptions_->synced()) {
    const ObjectKey key{options_.scale_up.namespace_name, std::string(kPreemptionsConfigMap)};
    seen.preemptions = {true, preemptions_->get(key)};
  }
  seen.has_autoscaler = autoscaler_.status != nullptr && has_autoscaler(*autoscaler_.status, input.now);
  try {
    const auto updated = caches_->update(accelerator, {histories_.removed_hosts->all(), places}, input.now);
    AcceleratorCache& cache = updated.cache;
    seen.last_plan = updated.last_update;
    plan::Plan plan = plan_placement(seen, cache, options_);
    // Unknown accelerators get no cache: users could name any number of them in pods.
    if (cache.domains().node_count() == 0 && !tpu::find_accelerator(accelerator).ok()) caches_->drop(accelerator);
    return plan;
  } catch (...) {
    caches_->drop(accelerator);  // It may have been updated in part.
    throw;
  }
}

FormerPlaces PlacementReconciler::recent_places(const FormerPlaces& places, Timestamp now) const {
  FormerPlaces recent;
  for (const auto& [slice, place] : places) {
    if (now >= place.left + options_.keep_domain) continue;
    FormerPlace& kept = recent.emplace(slice, place).first->second;
    kept.workload_runs = now < place.left + options_.keep_domain_without_pods &&
                         workloads_->state_of(place.workload) == slice::WorkloadState::kRuns;
  }
  return recent;
}

std::vector<PodPtr> PlacementReconciler::scouts(const std::string& accelerator) const {
  std::vector<PodPtr> scouts;
  for (const std::string& selected : {accelerator, std::string()}) {
    std::ranges::copy_if(by_accelerator_.scouts.lookup(selected), std::back_inserter(scouts),
                         [&](const PodPtr& pod) { return is_scout(*pod, options_.scale_up); });
  }
  return scouts;
}

}  // namespace tpuslice::placement
