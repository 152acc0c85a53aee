#include "controllers/rayservice/rayservice_reconciler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/plan/whole.h"
#include "controllers/rayservice/cluster_services.h"
#include "controllers/rayservice/gateway.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "controllers/rayservice/rules/spec.h"
#include "controllers/rayservice/services.h"

namespace tpuslice::rayservice {

RayServiceReconciler::RayServiceReconciler(Stores stores, const runtime::WorkloadClient& workloads, Options options)
    : stores_(stores), workloads_(workloads), options_(std::move(options)) {}

ResourceType RayServiceReconciler::resource() const { return kRayServices; }

Result<plan::Plan> RayServiceReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr service = stores_.rayservices.get(input.key);
  if (service == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, service)) return *std::move(waits);
  RayServiceObserved seen{.service = service->object(),
                          .clusters = stores_.clusters_by_owner.lookup(service->uid),
                          .services = stores_.services_by_owner.lookup(service->uid),
                          .answers = workloads_.answers({name(), input.key}),
                          .now = input.now,
                          .last_failure = input.last_failure};
  for (const ObjectPtr& cluster : seen.clusters) {
    std::ranges::move(stores_.pods_by_owner.lookup(cluster->uid), std::back_inserter(seen.pods));
  }
  const RayServiceSpec& spec = seen.service.spec();
  std::vector<ObjectKey> names = service_keys(spec);
  if (spec.incremental) {
    for (const ObjectPtr& cluster : seen.clusters) {
      names.push_back({cluster->key.namespace_name, cluster_serve_service_name(cluster->key.name)});
    }
  }
  stores_.services.add_missing(names, seen.services);
  seen.gateways = observe_gateways(spec);
  if (auto waits = plan::wait_until_whole(input.key, seen.clusters, seen.pods, seen.services, seen.gateways.gateway,
                                          seen.gateways.http_route)) {
    return *std::move(waits);
  }
  return plan_rayservice(seen, options_);
}

ObservedGateways RayServiceReconciler::observe_gateways(const RayServiceSpec& spec) const {
  ObservedGateways out;
  const std::string& namespace_name = spec.key.namespace_name;
  out.gateway = stores_.gateways.get({namespace_name, gateway_name(spec)});
  out.http_route = stores_.http_routes.get({namespace_name, http_route_name(spec)});
  out.watched = stores_.gateways.synced(spec.key) && stores_.http_routes.synced(spec.key);
  out.absent = stores_.gateways.absent() || stores_.http_routes.absent();
  return out;
}

}  // namespace tpuslice::rayservice
