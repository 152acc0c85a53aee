#include "controllers/rayservice/cluster_patches.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {

void ClusterPatches::add(const Cluster& cluster, const Json& merge_patch, bool exact) {
  Patch& patch = patches_[cluster.name()];
  patch.cluster = &cluster;
  patch.body.update(merge_patch, true);
  patch.exact = patch.exact || exact;
}

void ClusterPatches::annotate(const Cluster& cluster, std::string_view key, const Json& value) {
  Json annotations = Json::object();
  annotations[std::string(key)] = value;
  add(cluster, {{"metadata", {{"annotations", std::move(annotations)}}}});
}

void ClusterPatches::report(const Cluster& cluster, const plan::ActionEvents& events) {
  plan::ActionEvents& all = patches_[cluster.name()].events;
  std::ranges::copy(events.on_success, std::back_inserter(all.on_success));
  std::ranges::copy(events.on_failure, std::back_inserter(all.on_failure));
}

std::vector<plan::Action> ClusterPatches::actions() const {
  std::vector<plan::Action> out;
  for (const auto& [name, patch] : patches_) {
    plan::Preconditions preconditions{.uid = patch.cluster->spec.uid};
    if (patch.exact) preconditions.resource_version = patch.cluster->object.resource_version();
    plan::Action action =
        plan::Action::patch(raycluster::kRayClusters, patch.cluster->spec.key, patch.body, std::move(preconditions));
    action.failure_reason = kFailedRayCluster;
    action.events = std::make_shared<const plan::ActionEvents>(patch.events);
    out.push_back(std::move(action));
  }
  return out;
}

}  // namespace tpuslice::rayservice
