#include "controllers/slice/slice_controller.h"

#include <memory>
#include <utility>

#include "controllers/slice/reconcilers.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Each plan reads all pods and nodes of its accelerator, and the pods of one slice are created within milliseconds.
constexpr Duration kPlacementPace = std::chrono::milliseconds(50);

}  // namespace

void add_slices(runtime::Manager& manager, Options options, runtime::ControllerOptions controller_options) {
  runtime::WatchScope node_scope;
  node_scope.label_selector = std::string(tpu::kAcceleratorLabel);
  manager.keep_annotations({tpu::kAnnotationPrefix});
  const runtime::PodStores pods = manager.pods_with(tpu::kSlice);
  auto& nodes = manager.store<NodeView>(kNodes, node_scope);
  const Indexes indexes(pods, nodes);

  // Added before the controllers, so that a plan after a change sees its failure.
  const auto failures = std::make_shared<FailureHistory>();
  for (runtime::PodStore* store : pods) {
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

  runtime::Controller& placement =
      manager.add(std::make_unique<PlacementReconciler>(indexes, failures, options),
                  {.workers = controller_options.workers, .queue = {.pace = kPlacementPace}});
  for (runtime::PodStore* store : pods) {
    placement.watches<PodView>(*store, [&nodes](const PodView& pod) { return accelerator_of_pod(nodes, pod); });
  }
  placement.watches<NodeView>(nodes, accelerator_of_node);

  runtime::Controller& slices =
      manager.add(std::make_unique<SliceReconciler>(indexes, nodes, health, options), std::move(controller_options));
  for (runtime::PodStore* store : pods) slices.watches<PodView>(*store, slice_of_pod);
  slices.watches<NodeView>(nodes, [indexes](const NodeView& node) { return slices_on_node(indexes, node); });
}

}  // namespace tpuslice::slice
