#include "controllers/rayservice/rayservice_reconciler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/plan/whole.h"
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
  stores_.services.add_missing(service_keys(seen.service.spec()), seen.services);
  if (auto waits = plan::wait_until_whole(input.key, seen.clusters, seen.pods, seen.services)) {
    return *std::move(waits);
  }
  return plan_rayservice(seen, options_);
}

}  // namespace tpuslice::rayservice
