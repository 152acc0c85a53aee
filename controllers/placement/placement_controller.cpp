#include "controllers/placement/placement_controller.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "controllers/placement/failure_history.h"
#include "controllers/placement/placement_reconciler.h"
#include "controllers/placement/placement_render.h"

namespace tpuslice::placement {
namespace {

/// The pods of one slice are created, and bound, within milliseconds.
constexpr Duration kPlacementPace = std::chrono::milliseconds(50);
/// Placement takes at most a tenth of a core for each accelerator, however many pods and nodes it has.
constexpr int kPlacementPaceByPlan = 9;

struct LossHistories {
  std::shared_ptr<FailureHistory> failures = std::make_shared<FailureHistory>();
  std::shared_ptr<PlaceHistory> places = std::make_shared<PlaceHistory>();
  std::shared_ptr<RejectionHistory> rejections = std::make_shared<RejectionHistory>();
};

/// Listeners come before the controllers, so that a plan after a change sees what it has lost.
LossHistories record_losses(const slice::SliceStores& stores, const Clock& clock) {
  LossHistories losses;
  for (runtime::PodStore* store : stores.pods) {
    store->add_listener([losses, &nodes = stores.nodes, &clock](const PodPtr& before, const PodPtr& after) {
      losses.failures->record(failed_domain(nodes, before, after), clock.wall());
      losses.rejections->record(before, after, clock.wall());
      const NodePtr node = before == nullptr ? nullptr : slice::find_tpu_node(nodes, before->node_name);
      losses.places->record(before, after, node, clock.wall());
    });
  }
  stores.nodes.add_listener([losses, indexes = stores.indexes, &clock](const NodePtr& before, const NodePtr& after) {
    losses.rejections->record(before, after);
    if (before == nullptr) return;
    for (const DomainName& domain : failed_domains(indexes.pods_by_node.lookup(before->key.name), before, after)) {
      losses.failures->record(domain, clock.wall());
    }
  });
  return losses;
}

}  // namespace

void add_placement(runtime::Manager& manager, const slice::SliceStores& stores, const PlacementOptions& options,
                   int workers) {
  const LossHistories losses = record_losses(stores, manager.clock());
  AutoscalerStores autoscaler;
  autoscaler.status = &manager.optional_store<MetadataView>(
      kConfigMaps, {.namespaces = {std::string(kAutoscalerNamespace)},
                    .field_selector = fmt::format("metadata.name={}", kAutoscalerConfigMap)});
  runtime::Store<ProvisioningRequestView>* requests = nullptr;
  runtime::Store<MetadataView>* templates = nullptr;
  if (!options.scale_up.provisioning_class.empty()) {
    const runtime::WatchScope own{.namespaces = {options.scale_up.namespace_name}};
    requests = &manager.optional_store<ProvisioningRequestView>(kProvisioningRequests, own);
    templates = &manager.optional_store<MetadataView>(kPodTemplates, own);
    autoscaler.requests = requests->add_index(request_accelerator);
    autoscaler.templates = templates->add_index(template_accelerator);
  }
  PreemptionStore* preemptions = nullptr;
  if (options.max_preemptions_per_hour > 0) {
    preemptions = &manager.optional_store<PreemptionRecords>(
        kConfigMaps, {.namespaces = {options.scale_up.namespace_name},
                      .field_selector = fmt::format("metadata.name={}", kPreemptionsConfigMap)});
  }
  runtime::NodeStore& nodes = stores.nodes;
  const PlacementHistories histories{losses.failures, losses.places, losses.rejections, stores.removed_hosts,
                                     stores.write_backoff};
  runtime::Controller& placement =
      manager.add(std::make_unique<PlacementReconciler>(stores.pods, nodes, stores.indexes, stores.workloads, histories,
                                                        autoscaler, options, preemptions),
                  {.workers = workers,
                   .write_backoff = stores.write_backoff,
                   .counters = kCounters,
                   .on_interruption = stores.on_interruption,
                   .queue = {.pace = kPlacementPace, .pace_by_plan = kPlacementPaceByPlan}});
  for (runtime::PodStore* store : stores.pods) {
    placement.watches<PodView>(*store, [&nodes](const PodView& pod) { return accelerator_of_pod(nodes, pod); });
  }
  placement.watches<NodeView>(nodes, accelerator_of_node);
  const auto to_keys = [](const std::optional<std::string>& accelerator) {
    return accelerator ? std::vector{ObjectKey{"", *accelerator}} : std::vector<ObjectKey>();
  };
  if (requests != nullptr) {
    placement.watches_optional<ProvisioningRequestView>(
        *requests, [to_keys](const auto& request) { return to_keys(request_accelerator(request)); });
    placement.watches_optional<MetadataView>(
        *templates, [to_keys](const auto& each) { return to_keys(template_accelerator(each)); });
  }
  if (preemptions != nullptr) {
    placement.watches_optional<PreemptionRecords>(*preemptions, accelerators_of_records);
  }
}

}  // namespace tpuslice::placement
