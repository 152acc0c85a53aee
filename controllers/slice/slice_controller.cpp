#include "controllers/slice/slice_controller.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "controllers/slice/reconcilers.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// The pods of one slice are created, and bound, within milliseconds.
constexpr Duration kPlacementPace = std::chrono::milliseconds(50);
/// Placement takes at most a tenth of a core for each accelerator, however many pods and nodes it has.
constexpr int kPlacementPaceByPlan = 9;

}  // namespace

void add_slices(runtime::Manager& manager, Options options, runtime::ControllerOptions controller_options) {
  runtime::WatchScope node_scope;
  node_scope.label_selector = std::string(tpu::kAcceleratorLabel);
  manager.keep_annotations({tpu::kAnnotationPrefix, tpu::kCompletionIndex});
  const runtime::PodStores pods = manager.pods_with(tpu::kSlice);
  auto& nodes = manager.store<NodeView>(kNodes, node_scope);
  const Indexes indexes(pods, nodes);

  // The first listener is an early one, so that no plan takes a host that is removed for one that was lost. The others
  // are added before the controllers, so that a plan after a change sees its failure.
  const auto failures = std::make_shared<FailureHistory>();
  const auto removed_hosts = std::make_shared<RemovedHostHistory>();
  for (runtime::PodStore* store : pods) {
    store->add_early_listener([removed_hosts, indexes](const PodPtr& before, const PodPtr& after) {
      if (!is_removal_of_succeeded_host(before, after)) return;
      const ObjectKey slice = slice_key(*before);
      // Not recorded for a slice without live pods, which has finished.
      const auto live = indexes.pods_by_slice.lookup(slice.to_string());
      if (std::ranges::none_of(live, [](const PodPtr& pod) { return is_live(*pod); })) return;
      removed_hosts->record(slice, *host_index(*before), before->uid);
    });
    store->add_listener([failures, &nodes, &clock = manager.clock()](const PodPtr& before, const PodPtr& after) {
      failures->record(failed_domain(nodes, before, after), clock.wall());
    });
  }
  const auto health = std::make_shared<NodeHealth>(options, manager.clock().wall());
  nodes.add_listener([health, &clock = manager.clock()](const NodePtr& before, const NodePtr& after) {
    health->record(before, after, clock.wall());
  });
  nodes.add_listener([failures, indexes, &clock = manager.clock()](const NodePtr& before, const NodePtr& after) {
    if (before == nullptr) return;
    for (const DomainName& domain : failed_domains(indexes.pods_by_node.lookup(before->key.name), before, after)) {
      failures->record(domain, clock.wall());
    }
  });

  AutoscalerStores autoscaler;
  autoscaler.status = &manager.optional_store<MetadataView>(
      kConfigMaps, {.namespace_name = std::string(kAutoscalerNamespace),
                    .field_selector = fmt::format("metadata.name={}", kAutoscalerConfigMap)});
  runtime::Store<ProvisioningRequestView>* requests = nullptr;
  runtime::Store<MetadataView>* templates = nullptr;
  if (!options.scale_up.provisioning_class.empty()) {
    const runtime::WatchScope own{.namespace_name = options.scale_up.namespace_name};
    requests = &manager.optional_store<ProvisioningRequestView>(kProvisioningRequests, own);
    templates = &manager.optional_store<MetadataView>(kPodTemplates, own);
    autoscaler.requests = requests->add_index(request_accelerator);
    autoscaler.templates = templates->add_index(template_accelerator);
  }
  PreemptionStore* preemptions = nullptr;
  if (options.max_preemptions_per_hour > 0) {
    preemptions = &manager.optional_store<PreemptionRecords>(
        kConfigMaps, {.namespace_name = options.scale_up.namespace_name,
                      .field_selector = fmt::format("metadata.name={}", kPreemptionsConfigMap)});
  }
  // Shared, since placement leaves out a slice of which the other controller could not release a pod.
  const auto write_backoff = std::make_shared<runtime::WriteBackoff>();
  const Histories histories{failures, removed_hosts, write_backoff};
  runtime::Controller& placement = manager.add(
      std::make_unique<PlacementReconciler>(pods, nodes, indexes, histories, autoscaler, options, preemptions),
      {.workers = controller_options.workers,
       .write_backoff = write_backoff,
       .queue = {.pace = kPlacementPace, .pace_by_plan = kPlacementPaceByPlan}});
  for (runtime::PodStore* store : pods) {
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

  controller_options.write_backoff = write_backoff;
  runtime::Controller& slices = manager.add(
      std::make_unique<SliceReconciler>(indexes, nodes, health, histories, options), std::move(controller_options));
  for (runtime::PodStore* store : pods) slices.watches<PodView>(*store, slice_of_pod);
  slices.watches<NodeView>(nodes, [indexes](const NodeView& node) { return slices_on_node(indexes, node); });
}

}  // namespace tpuslice::slice
