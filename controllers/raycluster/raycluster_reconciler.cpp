#include "controllers/raycluster/raycluster_reconciler.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/services.h"

namespace tpuslice::raycluster {

std::vector<std::string> orphan_index(const PodView& pod) {
  const std::optional<ObjectKey> cluster = cluster_of_orphan(pod);
  return cluster ? std::vector{cluster->to_string()} : std::vector<std::string>{};
}

RayClusterReconciler::RayClusterReconciler(Stores stores, Options options)
    : stores_(std::move(stores)), options_(std::move(options)) {}

Result<plan::Plan> RayClusterReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr cluster = stores_.clusters.get(input.key);
  if (cluster == nullptr) return plan::Plan{};
  RayClusterObserved seen{cluster->object(), stores_.pods_by_owner.lookup(cluster->uid),
                          stores_.services_by_owner.lookup(cluster->uid), input.now, input.last_failure};
  for (auto& orphan : stores_.orphans.lookup(input.key.to_string())) seen.pods.push_back(std::move(orphan));
  for (const ObjectKey& key : service_keys(RayClusterSpec::read(seen.cluster))) {
    const bool known = std::ranges::any_of(seen.services, [&](const auto& service) { return service->key == key; });
    if (known) continue;
    if (runtime::ObjectStore::Ptr other = stores_.services.get(key)) seen.services.push_back(std::move(other));
  }
  return plan_raycluster(seen, options_);
}

}  // namespace tpuslice::raycluster
