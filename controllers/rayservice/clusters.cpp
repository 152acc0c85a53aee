#include "controllers/rayservice/clusters.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "controllers/raycluster/head.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::rayservice {

int serve_endpoints(const Cluster& cluster) {
  return static_cast<int>(std::ranges::count_if(cluster.pods, [](const PodPtr& pod) {
    return pod->label(raycluster::kServe) == "true" && pod->phase == PodPhase::kRunning && pod->ready &&
           !pod->terminating() && !pod->pod_ip.empty();
  }));
}

Clusters::Clusters(const RayServiceObserved& seen) {
  std::map<std::string_view, std::vector<PodPtr>> pods_by_owner;
  for (const PodPtr& pod : seen.pods) {
    if (pod->controller) pods_by_owner[std::string_view(pod->controller->uid)].push_back(pod);
  }
  all_.reserve(seen.clusters.size());
  for (const ObjectPtr& view : seen.clusters) {
    Cluster& cluster = all_.emplace_back();
    cluster.object = view->object();
    if (const auto pods = pods_by_owner.find(view->uid); pods != pods_by_owner.end()) cluster.pods = pods->second;
  }
  std::ranges::sort(all_, {}, [](const Cluster& cluster) { return cluster.object.name(); });
  for (Cluster& cluster : all_) {
    cluster.spec = raycluster::RayClusterSpec::read(cluster.object);
    cluster.head =
        raycluster::choose_head(cluster.spec, raycluster::not_terminating(raycluster::by_type(cluster.pods).heads));
  }
}

const Cluster* Clusters::find(std::string_view name) const {
  const auto found = std::ranges::find_if(all_, [&](const Cluster& cluster) { return cluster.name() == name; });
  return found == all_.end() ? nullptr : &*found;
}

const Cluster* Clusters::find_alive(std::string_view name) const {
  const Cluster* found = find(name);
  return found == nullptr || found->terminating() ? nullptr : found;
}

}  // namespace tpuslice::rayservice
