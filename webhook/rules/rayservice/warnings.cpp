#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "webhook/rules/field_changes.h"
#include "webhook/rules/raycluster/cluster_view.h"
#include "webhook/rules/rayservice/validator.h"

namespace tpuslice::webhook {
namespace {

constexpr std::size_t kMaxRayServiceWarning = 252;  // Plus "...": the API server cuts at 256.

/// Applied to the existing cluster, without an upgrade.
bool is_scaling(const FieldChange& change) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{".replicas", ".minReplicas", ".maxReplicas", ".scaleStrategy"},
      [&](std::string_view field) { return change.path.find(field) != std::string::npos; });
}

/// Whether the change of the cluster needs a new cluster.
bool needs_upgrade(const Json& service, const Json& old) {
  const Json* before = find_set(old, {"spec", "rayClusterConfig"});
  const Json* after = find_set(service, {"spec", "rayClusterConfig"});
  if (before == nullptr || after == nullptr) return false;
  return !std::ranges::all_of(field_changes(*before, *after, "spec.rayClusterConfig"), is_scaling);
}

}  // namespace

std::vector<std::string> warn_rayservice(const Json& service, const Json* old) {
  std::vector<std::string> warnings;
  for (const std::string_view field : {"serviceUnhealthySecondThreshold", "deploymentUnhealthySecondThreshold"}) {
    if (find_set(service, {"spec", field}) == nullptr) continue;
    warnings.push_back(fmt::format("spec.{}: has no effect, KubeRay has deprecated it", field));
  }
  const std::string type = string_at(service, {"spec", "upgradeStrategy", "type"});
  const Json* options = find_set(service, {"spec", "upgradeStrategy", "clusterUpgradeOptions"});
  if (options != nullptr && type != "NewClusterWithIncrementalUpgrade") {
    warnings.emplace_back(
        "spec.upgradeStrategy.clusterUpgradeOptions: has no effect without type NewClusterWithIncrementalUpgrade");
  }
  if (type == "None" && old != nullptr && needs_upgrade(service, *old)) {
    warnings.emplace_back(
        "spec.rayClusterConfig: the change has no effect while spec.upgradeStrategy.type is None: no new cluster is "
        "created");
  }
  const Json cluster = embedded_cluster(service, "rayClusterConfig");
  if (cluster.is_object()) {
    for (std::string& warning : warn_cluster(ClusterView(cluster, "spec.rayClusterConfig"))) {
      warnings.push_back(std::move(warning));
    }
  }
  for (std::string& warning : warnings) warning = clip(std::move(warning), kMaxRayServiceWarning);
  return warnings;
}

}  // namespace tpuslice::webhook
