#include "controllers/raycluster/raycluster_reconciler.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/services.h"

namespace tpuslice::raycluster {

RayClusterReconciler::RayClusterReconciler(const runtime::ObjectStore& clusters, const runtime::PodStore& pods,
                                           const runtime::ObjectStore& services, Options options)
    : clusters_(clusters), pods_(pods), services_(services), options_(std::move(options)) {}

Result<runtime::Plan> RayClusterReconciler::plan(const runtime::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr cluster = clusters_.get(input.key);
  if (cluster == nullptr) return runtime::Plan{};
  const std::string owner = "owner/" + cluster->uid;
  RayClusterObserved seen{cluster->object, pods_.lookup(owner), services_.lookup(owner), input.now, input.last_failure};
  for (const ObjectKey& key : service_keys(RayClusterSpec::read(seen.cluster))) {
    const bool known = std::ranges::any_of(seen.services, [&](const auto& service) { return service->key == key; });
    if (known) continue;
    if (runtime::ObjectStore::Ptr foreign = services_.get(key)) seen.services.push_back(std::move(foreign));
  }
  return plan_raycluster(seen, options_);
}

}  // namespace tpuslice::raycluster
