#include "controllers/raycluster/raycluster_controller.h"

#include <memory>
#include <utility>

#include "controllers/raycluster/labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {

runtime::Controller& add_raycluster(runtime::Manager& manager, Options options,
                                    runtime::ControllerOptions controller_options, const std::string& namespace_name) {
  runtime::WatchScope pod_scope;
  pod_scope.namespace_name = namespace_name;
  pod_scope.label_selector = kPodSelector;
  runtime::WatchScope service_scope;
  service_scope.namespace_name = namespace_name;
  service_scope.label_selector = kServiceSelector;
  manager.keep_annotations({tpu::kAnnotationPrefix});
  auto& clusters = manager.store<ObjectView>(kRayClusters, {.namespace_name = namespace_name});
  auto& pods = manager.store<PodView>(kPods, pod_scope);
  auto& services = manager.store<ObjectView>(kServices, service_scope);
  runtime::Controller& controller =
      manager.add(std::make_unique<RayClusterReconciler>(
                      RayClusterReconciler::Stores{clusters, pods.add_index(runtime::owner_uid<PodView>), services,
                                                   services.add_index(runtime::owner_uid<ObjectView>)},
                      std::move(options)),
                  std::move(controller_options));
  controller.watches(clusters);
  controller.watches(pods);
  controller.watches(services);
  return controller;
}

}  // namespace tpuslice::raycluster
