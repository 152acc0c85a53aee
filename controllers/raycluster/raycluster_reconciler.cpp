#include "controllers/raycluster/raycluster_reconciler.h"

#include <utility>

#include "controllers/plan/whole.h"
#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/raycluster_plan.h"

namespace tpuslice::raycluster {

std::optional<std::string> orphan_index(const PodView& pod) {
  const std::optional<ObjectKey> cluster = cluster_of_orphan(pod);
  return cluster ? std::optional(cluster->to_string()) : std::nullopt;
}

RayClusterReconciler::RayClusterReconciler(Stores stores, Options options)
    : stores_(std::move(stores)), options_(std::move(options)) {}

Result<plan::Plan> RayClusterReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr cluster = stores_.clusters.get(input.key);
  if (cluster == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, cluster)) return *std::move(waits);
  RayClusterObserved seen{cluster->object(), stores_.pods_by_owner.lookup(cluster->uid),
                          stores_.services_by_owner.lookup(cluster->uid), input.now, input.last_failure};
  for (auto& orphan : stores_.orphans.lookup(input.key.to_string())) seen.pods.push_back(std::move(orphan));
  const RayClusterSpec& spec = seen.cluster.spec();
  stores_.services.add_missing(service_keys(spec), seen.services);
  seen.children = observe_children(spec);
  seen.jobs_watched = stores_.cleanup_jobs != nullptr && stores_.cleanup_jobs->synced(input.key);
  if (seen.jobs_watched && seen.cluster.deletion_timestamp()) {
    seen.cleanup_job = stores_.cleanup_jobs->get({input.key.namespace_name, redis_cleanup_job_name(spec)});
  }
  std::vector<runtime::ObjectStore::Ptr> children;
  children.reserve(seen.children.objects.size());
  for (const auto& child : seen.children.objects) children.push_back(child.object);
  if (auto waits = plan::wait_until_whole(input.key, seen.pods, seen.services, children, seen.cleanup_job)) {
    return *std::move(waits);
  }
  return plan_raycluster(seen, options_);
}

ObservedChildren RayClusterReconciler::observe_children(const RayClusterSpec& spec) const {
  ObservedChildren seen;
  const std::vector<ChildKey> desired = child_keys(spec);
  for (const runtime::ObjectStore* store : stores_.children) {
    if (!store->synced(spec.key)) seen.unwatched.push_back(store->type());
    for (const ChildKey& child : desired) {
      if (child.type != store->type()) continue;
      if (runtime::ObjectStore::Ptr live = store->get(child.key)) {
        seen.objects.push_back({store->type(), std::move(live)});
      }
    }
  }
  return seen;
}

}  // namespace tpuslice::raycluster
