#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/rayservice/rules/spec.h"
#include "controllers/rayservice/rules/validator.h"
#include "tpu/rules/field_changes.h"

namespace tpuslice::rules {
namespace {

constexpr std::size_t kMaxRayServiceWarning = 252;  // Plus "...": the API server cuts at 256.

bool names(const FieldChange& change, std::initializer_list<std::string_view> fields) {
  return std::ranges::any_of(fields,
                             [&](std::string_view field) { return change.path.find(field) != std::string::npos; });
}

/// Applied to the existing cluster, without an upgrade.
bool is_applied_in_place(const FieldChange& change) {
  return names(change, {".replicas", ".minReplicas", ".maxReplicas"}) || change.path == "spec.rayClusterConfig.suspend";
}

/// Not part of the hash of the cluster, and so applied only together with other changes.
bool is_not_compared(const FieldChange& change) {
  return names(change, {".scaleStrategy", ".tolerations", ".schedulingGates", "rayClusterConfig.upgradeStrategy"});
}

void warn_config_changes(const Json& service, const Json& old, std::vector<std::string>& warnings) {
  const Json* before = find_set(old, {"spec", "rayClusterConfig"});
  const Json* after = find_set(service, {"spec", "rayClusterConfig"});
  if (before == nullptr || after == nullptr) return;
  const std::vector<FieldChange> changes = field_changes(*before, *after, "spec.rayClusterConfig");
  if (!changes.empty() && std::ranges::all_of(changes, is_not_compared)) {
    warnings.push_back(fmt::format("{}: a change of this field alone is not applied to the existing RayCluster",
                                   changes.front().path));
    return;
  }
  const bool needs_upgrade = std::ranges::any_of(
      changes, [](const FieldChange& change) { return !is_applied_in_place(change) && !is_not_compared(change); });
  if (needs_upgrade && string_at(service, {"spec", "upgradeStrategy", "type"}) == "None") {
    warnings.emplace_back(
        "spec.rayClusterConfig: the change has no effect while spec.upgradeStrategy.type is None: no new cluster is "
        "created");
  }
}

/// Warns about options of NewClusterWithIncrementalUpgrade with which no upgrade ends, and about fields without effect.
void warn_incremental(const Json& service, std::vector<std::string>& warnings) {
  constexpr std::string_view kPath = "spec.upgradeStrategy.clusterUpgradeOptions";
  const Json* options = find_set(service, {"spec", "upgradeStrategy", "clusterUpgradeOptions"});
  if (options != nullptr) {
    const std::int64_t surge = int_at(*options, {"maxSurgePercent"}, rayservice::IncrementalOptions::kDefaultMaxSurge);
    if (surge == 0) {
      warnings.push_back(
          fmt::format("{}.maxSurgePercent: is 0: no new cluster gets capacity, so no upgrade ends", kPath));
    } else if (int_at(*options, {"stepSizePercent"}, 1) == 0) {
      warnings.push_back(fmt::format("{}.stepSizePercent: is 0: no traffic moves, so no upgrade ends", kPath));
    }
  }
  if (find_set(service, {"spec", "serveService"}) != nullptr) {
    warnings.push_back(fmt::format("spec.serveService: has no effect with {}: clients use the Gateway",
                                   rayservice::kIncrementalUpgrade));
  }
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
  if (type == rayservice::kIncrementalUpgrade) {
    warn_incremental(service, warnings);
  } else if (options != nullptr) {
    warnings.emplace_back(
        "spec.upgradeStrategy.clusterUpgradeOptions: has no effect without type NewClusterWithIncrementalUpgrade");
  }
  if (old != nullptr) warn_config_changes(service, *old, warnings);
  const Json cluster = embedded_cluster(service, "rayClusterConfig");
  if (cluster.is_object()) {
    const raycluster::RayClusterSpec cluster_spec = raycluster::RayClusterSpec::read(cluster);
    for (std::string& warning : warn_cluster({cluster, cluster_spec, "spec.rayClusterConfig"})) {
      warnings.push_back(std::move(warning));
    }
  }
  for (std::string& warning : warnings) warning = clip(std::move(warning), kMaxRayServiceWarning);
  return warnings;
}

}  // namespace tpuslice::rules
