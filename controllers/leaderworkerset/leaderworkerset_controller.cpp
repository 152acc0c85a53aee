#include "controllers/leaderworkerset/leaderworkerset_controller.h"

#include <memory>
#include <utility>

#include "controllers/leaderworkerset/leaderworkerset_reconciler.h"

namespace tpuslice::leaderworkerset {
namespace {

/// While its groups start or end, a set would otherwise be planned for each of their pods.
constexpr Duration kPace = std::chrono::milliseconds(25);

}  // namespace

runtime::Controller& add_leaderworkerset(runtime::Manager& manager, Options options,
                                         runtime::ControllerOptions controller_options,
                                         const std::string& namespace_name) {
  const runtime::WatchScope children{.namespace_name = namespace_name, .label_selector = std::string(kChildSelector)};
  const runtime::WatchScope all{.namespace_name = namespace_name};
  runtime::ObjectStore& sets = manager.objects(kLeaderWorkerSets, all);
  runtime::StatefulSetStore& stateful_sets = manager.stateful_sets(children, set_index<StatefulSetView>);
  runtime::PodStore& pods = manager.pods(children, set_index<PodView>);
  runtime::ObjectStore& revisions = manager.objects(kControllerRevisions, children, runtime::owner_index<ObjectView>);
  runtime::ServiceStore& services = manager.services(all);
  runtime::NodeStore& nodes = manager.nodes();
  controller_options.queue.pace = kPace;
  runtime::Controller& controller = manager.add(
      std::make_unique<LeaderWorkerSetReconciler>(
          LeaderWorkerSetReconciler::Stores{sets, stateful_sets, pods, revisions, services, nodes}, options),
      std::move(controller_options));
  controller.watches(sets);
  controller.watches<StatefulSetView>(stateful_sets, set_of<StatefulSetView>);
  controller.watches<PodView>(pods, set_of<PodView>);
  controller.watches(revisions);
  // Services of groups belong to pods; those of our names may be anybody's.
  controller.watches<ServiceView>(services, [](const ServiceView& service) {
    std::vector<ObjectKey> keys;
    const auto name = service.selector.find(tpu::kLwsName);
    if (name != service.selector.end()) keys.push_back({service.key.namespace_name, name->second});
    if (service.controller && service.controller->kind == kLeaderWorkerSets.kind) {
      keys.push_back({service.key.namespace_name, service.controller->name});
    }
    return keys;
  });
  return controller;
}

}  // namespace tpuslice::leaderworkerset
