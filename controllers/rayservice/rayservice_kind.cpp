#include "controllers/rayservice/rayservice_kind.h"

#include <memory>
#include <utility>
#include <vector>

#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/gateway.h"
#include "controllers/rayservice/gateway_view.h"
#include "controllers/rayservice/rayservice_metrics.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/rayservice_rules.h"
#include "controllers/rayservice/rules/spec.h"
#include "tpu/labels.h"

namespace tpuslice::rayservice {
namespace {

/// Otherwise a RayService would be planned, and its status written, for each pod that starts.
constexpr Duration kPace = std::chrono::milliseconds(100);

std::vector<ObjectKey> service_of(const std::optional<ControllerRef>& owner, const std::string& namespace_name) {
  if (!owner || owner->kind != kRayServices.kind || owner->api_version != kRayServices.api_version()) return {};
  return {{namespace_name, owner->name}};
}

/// The RayService that controls the pod or service, or the RayCluster that does.
template <typename View>
std::vector<ObjectKey> service_of_child(const View& child, const runtime::ObjectStore& clusters) {
  const auto& owner = child.controller;
  if (!owner || owner->kind != raycluster::kRayClusters.kind) return service_of(owner, child.key.namespace_name);
  const runtime::ObjectStore::Ptr cluster = clusters.get({child.key.namespace_name, owner->name});
  if (cluster == nullptr || cluster->uid != owner->uid) return {};
  return service_of(cluster->controller, child.key.namespace_name);
}

}  // namespace

runtime::Controller& add_rayservice(runtime::Manager& manager, runtime::SendToWorkload send, Options options,
                                    runtime::ControllerOptions controller_options,
                                    const runtime::Namespaces& namespaces) {
  const auto scope = [&](std::string_view selector) {
    return runtime::WatchScope{.namespaces = namespaces, .label_selector = std::string(selector)};
  };
  manager.keep_annotations({tpu::kAnnotationPrefix, "ray.io/"});
  auto& rayservices = manager.store<ObjectView>(kRayServices, scope({}));
  auto& clusters = manager.store<ObjectView>(raycluster::kRayClusters, scope({}));
  auto& pods = manager.store<PodView>(kPods, scope(raycluster::kPodSelector));
  auto& services = manager.store<ObjectView>(kServices, scope(kServiceSelector));
  // Few RayServices have them, and few Kubernetes clusters serve the types.
  auto& gateways = manager.optional_store<GatewayView>(kGateways, scope({}));
  auto& http_routes = manager.optional_store<GatewayView>(kHttpRoutes, scope({}));
  runtime::WorkloadClient& workloads = manager.workload_client(std::move(send));
  controller_options.queue.pace = kPace;
  runtime::Controller& controller = manager.add(
      std::make_unique<RayServiceReconciler>(
          RayServiceReconciler::Stores{rayservices, clusters.add_index(runtime::owner_uid<ObjectView>),
                                       pods.add_index(runtime::owner_uid<PodView>), services,
                                       services.add_index(runtime::owner_uid<ObjectView>), gateways, http_routes},
          workloads, std::move(options)),
      std::move(controller_options));
  controller.watches(rayservices);
  controller.watches(clusters);
  controller.watches<PodView>(pods, [&clusters](const PodView& pod) { return service_of_child(pod, clusters); });
  controller.watches<ObjectView>(
      services, [&clusters](const ObjectView& service) { return service_of_child(service, clusters); });
  controller.watches_optional(gateways);
  controller.watches_optional(http_routes);
  controller.sends_requests(workloads);
  return controller;
}

namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.cluster_domain = settings.cluster_domain;
  options.head_cluster_ip = raycluster::configured_options(settings.configuration).head_cluster_ip;
  add_rayservice(manager, settings.send_to_workload, options, settings.controller, settings.watch_namespaces);
}

kind::WriteSeries upstream_metrics(runtime::Manager& manager, const kind::Settings& settings) {
  const auto& services = manager.store<ObjectView>(kRayServices, {.namespaces = settings.watch_namespaces});
  return [&services](SeriesWriter& out) { write_metrics(services.list(), out); };
}

}  // namespace

// An operator that serves RayClusters serves RayServices, too: two operators would work on the same objects.
constinit const kind::Kind kKind{.type = kRayServices,
                                 .controller = "rayservice",
                                 .runs_with = "raycluster",
                                 .upstream = raycluster::kKubeRay,
                                 .admission = kAdmission,
                                 .finalizer = {kFinalizer},
                                 .add = add,
                                 .upstream_metrics = upstream_metrics};

}  // namespace tpuslice::rayservice
