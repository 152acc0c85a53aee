#include "controllers/slice/slice_controller.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "controllers/slice/lost_pod_reconciler.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/slice_reconciler.h"
#include "controllers/slice/slice_render.h"
#include "controllers/slice/unnumbered_pod_reconciler.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Adds the controller that deletes pods without TPUs on lost nodes.
void add_lost_pods(runtime::Manager& manager, const SliceStores& stores,
                   const std::shared_ptr<const NodeHealth>& health, const Options& options) {
  const runtime::PodStores pods = manager.pod_stores();
  const runtime::PodIndex by_node = pods.add_index(node_of_lost_pod);
  runtime::Controller& lost =
      manager.add(std::make_unique<LostPodReconciler>(pods, stores.nodes, health, options), {.workers = 1});
  for (runtime::PodStore* store : pods) {
    lost.watches<PodView>(*store,
                          [workloads = stores.workloads](const PodView& pod) { return lost_pod(*workloads, pod); });
  }
  lost.watches<NodeView>(stores.nodes, [by_node, workloads = stores.workloads](const NodeView& node) {
    std::vector<ObjectKey> keys;
    for (const PodPtr& pod : by_node.lookup(node.key.name)) {
      for (ObjectKey& key : lost_pod(*workloads, *pod)) keys.push_back(std::move(key));
    }
    return keys;
  });
}

/// Adds the controller that warns of pods of Jobs without slice identity.
void add_unnumbered_pods(runtime::Manager& manager, const SliceStores& stores) {
  runtime::Controller& unnumbered = manager.add(std::make_unique<UnnumberedPodReconciler>(stores.pods), {.workers = 1});
  for (runtime::PodStore* store : stores.pods) unnumbered.watches<PodView>(*store, unnumbered_pod);
}

}  // namespace

SliceStores add_slice_stores(runtime::Manager& manager, Workloads workloads) {
  manager.keep_annotations({tpu::kAnnotationPrefix, tpu::kCompletionIndex, tpu::kSliceTopologyAnnotation});
  const runtime::PodStores pods = manager.pods_with(tpu::kSlice);
  SliceStores stores{.pods = pods,
                     .nodes = manager.store<NodeView>(kNodes),
                     .workloads = std::make_shared<const Workloads>(std::move(workloads))};
  // The listener is early, so that no plan takes a host that is removed for one that was lost.
  for (runtime::PodStore* store : pods) {
    store->add_early_listener(
        [removed_hosts = stores.removed_hosts, indexes = stores.indexes](const PodPtr& before, const PodPtr& after) {
          if (!is_removal_of_succeeded_host(before, after)) return;
          const ObjectKey slice = slice_key(*before);
          // Not recorded for a slice without live pods, which has finished.
          const auto live = indexes.pods_by_slice.lookup(slice.to_string());
          if (std::ranges::none_of(live, [](const PodPtr& pod) { return is_live(*pod); })) return;
          removed_hosts->record(slice, *host_index(*before), before->uid);
        });
  }
  return stores;
}

void add_slices(runtime::Manager& manager, const SliceStores& stores, Options options,
                runtime::ControllerOptions controller_options) {
  const auto health = std::make_shared<NodeHealth>(options, manager.clock().wall());
  stores.nodes.add_listener([health, &clock = manager.clock()](const NodePtr& before, const NodePtr& after) {
    health->record(before, after, clock.wall());
  });
  controller_options.write_backoff = stores.write_backoff;
  controller_options.counters = kCounters;
  controller_options.on_interruption = stores.on_interruption;
  const Histories histories{stores.removed_hosts, stores.write_backoff};
  runtime::Controller& slices = manager.add(
      std::make_unique<SliceReconciler>(stores.indexes, stores.nodes, stores.workloads, health, histories, options),
      std::move(controller_options));
  for (runtime::PodStore* store : stores.pods) slices.watches<PodView>(*store, slice_of_pod);
  slices.watches<NodeView>(stores.nodes,
                           [indexes = stores.indexes](const NodeView& node) { return slices_on_node(indexes, node); });
  add_lost_pods(manager, stores, health, options);
  add_unnumbered_pods(manager, stores);
}

}  // namespace tpuslice::slice
