#include "controllers/raycluster/raycluster_controller.h"

#include <memory>
#include <utility>

#include "controllers/raycluster/labels.h"

namespace tpuslice::raycluster {

runtime::Controller& add_raycluster(runtime::Manager& manager, Options options,
                                    runtime::ControllerOptions controller_options, const std::string& namespace_name) {
  runtime::WatchScope pod_scope;
  pod_scope.namespace_name = namespace_name;
  pod_scope.label_selector = kPodSelector;
  runtime::WatchScope service_scope;
  service_scope.namespace_name = namespace_name;
  service_scope.label_selector = kServiceSelector;
  runtime::ObjectStore& clusters = manager.objects(kRayClusters, {.namespace_name = namespace_name});
  runtime::PodStore& pods = manager.pods(std::move(pod_scope), runtime::owner_index<PodView>);
  runtime::ObjectStore& services =
      manager.objects(kServices, std::move(service_scope), runtime::owner_index<ObjectView>);
  runtime::Controller& controller =
      manager.add(std::make_unique<RayClusterReconciler>(clusters, pods, services, std::move(options)),
                  std::move(controller_options));
  controller.watches(clusters);
  controller.watches(pods);
  controller.watches(services);
  return controller;
}

}  // namespace tpuslice::raycluster
