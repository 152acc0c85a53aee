#include "controllers/slice/slice_controller.h"

#include <memory>
#include <utility>

#include "controllers/slice/reconcilers.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Each placement looks at all pods and nodes of its accelerator; the pods of one slice come within milliseconds.
constexpr Duration kPlacementPace = std::chrono::milliseconds(50);

}  // namespace

void add_slices(runtime::Manager& manager, Options options, runtime::ControllerOptions controller_options) {
  runtime::WatchScope node_scope;
  node_scope.label_selector = std::string(tpu::kAcceleratorLabel);
  const runtime::PodStores pods = manager.pods_with(tpu::kSlice, pod_index);
  runtime::NodeStore& nodes = manager.nodes(std::move(node_scope), node_index);

  // Told before the controllers: what they plan because of a change knows of its trouble.
  const auto troubles = std::make_shared<Troubles>();
  for (runtime::PodStore* store : pods) {
    store->add_listener([troubles, &nodes, &clock = manager.clock()](const PodPtr& before, const PodPtr& after) {
      troubles->add(trouble_of(nodes, before, after), clock.wall());
    });
  }
  nodes.add_listener([troubles, pods, &clock = manager.clock()](const NodePtr& before, const NodePtr& after) {
    if (before == nullptr) return;
    for (const DomainName& domain : troubles_of(pods_on_node(pods, before->key.name), before, after)) {
      troubles->add(domain, clock.wall());
    }
  });

  runtime::Controller& placement = manager.add(std::make_unique<PlacementReconciler>(pods, nodes, troubles, options),
                                               {.workers = 1, .queue = {.pace = kPlacementPace}});
  for (runtime::PodStore* store : pods) {
    placement.watches<PodView>(*store, [&nodes](const PodView& pod) { return accelerator_of_pod(nodes, pod); });
  }
  placement.watches<NodeView>(nodes, accelerator_of_node);

  runtime::Controller& slices =
      manager.add(std::make_unique<SliceReconciler>(pods, nodes, options), std::move(controller_options));
  for (runtime::PodStore* store : pods) slices.watches<PodView>(*store, slice_of_pod);
  slices.watches<NodeView>(nodes, [pods](const NodeView& node) { return slices_on_node(pods, node); });
}

}  // namespace tpuslice::slice
