#include "controllers/rayservice/rules/validator.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/ray_rules.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/spec.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

/// "<name>-<5 characters>" with its own children must be DNS labels.
constexpr std::size_t kMaxRayServiceName = 47;

constexpr std::string_view kConfigField = "rayClusterConfig";
using rayservice::kIncrementalUpgrade;

constexpr auto kRayServiceShapes = [] {
  using enum FieldType;
  return std::array{
      FieldShape{.path = "spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.rayClusterConfig", .type = kObject, .required = true},
      FieldShape{.path = "spec.serveConfigV2", .type = kString},
      FieldShape{.path = "spec.serveService", .type = kObject},
      FieldShape{.path = "spec.upgradeStrategy", .type = kObject},
      FieldShape{.path = "spec.upgradeStrategy.type",
                 .type = kString,
                 .values = "NewCluster|NewClusterWithIncrementalUpgrade|None"},
      FieldShape{.path = "spec.upgradeStrategy.clusterUpgradeOptions", .type = kObject},
      FieldShape{
          .path = "spec.upgradeStrategy.clusterUpgradeOptions.gatewayClassName", .type = kString, .required = true},
      FieldShape{
          .path = "spec.upgradeStrategy.clusterUpgradeOptions.intervalSeconds", .type = kInt32, .required = true},
      FieldShape{
          .path = "spec.upgradeStrategy.clusterUpgradeOptions.stepSizePercent", .type = kInt32, .required = true},
      FieldShape{.path = "spec.upgradeStrategy.clusterUpgradeOptions.maxSurgePercent", .type = kInt32},
      FieldShape{.path = "spec.rayClusterDeletionDelaySeconds", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.serviceUnhealthySecondThreshold", .type = kInt32},
      FieldShape{.path = "spec.deploymentUnhealthySecondThreshold", .type = kInt32},
      FieldShape{.path = "spec.excludeHeadPodFromServeSvc", .type = kBoolean},
      FieldShape{.path = "spec.suspend", .type = kBoolean},
  };
}();

void check_annotations(const Json& service, Errors& errors) {
  const std::string timeout = string_at(service, {"metadata", "annotations", rayservice::kInitializingTimeout});
  if (!timeout.empty() && !rayservice::parse_timeout(timeout)) {
    errors.push_back(invalid_value(fmt::format("metadata.annotations[{}]", rayservice::kInitializingTimeout), timeout,
                                   "must be a positive number of seconds, or a duration such as 5m", kKubeRayRule));
  }
  const Json* without_room = find_set(service, {"metadata", "annotations", rayservice::kUpgradeWithoutRoom});
  if (without_room == nullptr || *without_room == rayservice::kWaitForRoom ||
      *without_room == rayservice::kReplaceWithoutRoom) {
    return;
  }
  errors.push_back(
      not_supported(fmt::format("metadata.annotations[{}]", rayservice::kUpgradeWithoutRoom), *without_room,
                    {std::string(rayservice::kWaitForRoom), std::string(rayservice::kReplaceWithoutRoom)}, kOurRule));
}

/// NewClusterWithIncrementalUpgrade moves the traffic step by step.
void check_incremental(const Json& service, Errors& errors) {
  if (string_at(service, {"spec", "upgradeStrategy", "type"}) != kIncrementalUpgrade) return;
  if (!bool_at(service, {"spec", kConfigField, "enableInTreeAutoscaling"})) {
    errors.push_back(required_value("spec.rayClusterConfig.enableInTreeAutoscaling",
                                    fmt::format("{} requires Ray's autoscaler", kIncrementalUpgrade), kKubeRayRule));
  }
  const std::size_t length = string_at(service, {"spec", "serveConfigV2"}).size();
  if (length > rayservice::kMaxRecordedConfig) {
    errors.push_back(invalid_value("spec.serveConfigV2", fmt::format("{} bytes", length),
                                   fmt::format("must have at most {} bytes with {}: RayClusters record it",
                                               rayservice::kMaxRecordedConfig, kIncrementalUpgrade),
                                   kOurRule));
  }
  const std::string path = "spec.upgradeStrategy.clusterUpgradeOptions";
  const Json* options = find_set(service, {"spec", "upgradeStrategy", "clusterUpgradeOptions"});
  if (options == nullptr || !options->is_object()) {
    errors.push_back(required_value(path, fmt::format("{} requires it", kIncrementalUpgrade), kKubeRayRule));
    return;
  }
  if (options->value("gatewayClassName", Json()) == "") {
    errors.push_back(required_value(path + ".gatewayClassName", "the name of a GatewayClass of the Kubernetes cluster",
                                    kKubeRayRule));
  }
  const std::int64_t surge = int_at(*options, {"maxSurgePercent"}, rayservice::IncrementalOptions::kDefaultMaxSurge);
  const std::int64_t step = int_at(*options, {"stepSizePercent"});
  for (const auto& [field, percent] : {std::pair("maxSurgePercent", surge), std::pair("stepSizePercent", step)}) {
    if (percent >= 0 && percent <= 100) continue;
    errors.push_back(invalid_value(fmt::format("{}.{}", path, field), percent, "must be from 0 to 100", kKubeRayRule));
  }
  if (step > surge) {
    errors.push_back(invalid_value(path + ".stepSizePercent", step,
                                   fmt::format("must be less than or equal to maxSurgePercent, {}", surge),
                                   kKubeRayRule));
  }
  if (const std::int64_t interval = int_at(*options, {"intervalSeconds"}); interval <= 0) {
    errors.push_back(invalid_value(path + ".intervalSeconds", interval, "must be greater than 0", kKubeRayRule));
  }
}

void check_services(const Json& service, const Json& cluster, Errors& errors) {
  constexpr std::string_view kHeadGroup = "spec.rayClusterConfig.headGroupSpec";
  if (!string_at(cluster, {"spec", "headGroupSpec", "headService", "metadata", "name"}).empty()) {
    errors.push_back(forbidden(fmt::format("{}.headService.metadata.name", kHeadGroup),
                               "the name of the head service is derived from the RayCluster's: unset it",
                               kKubeRayRule));
  }
  // An incremental upgrade does not use serveService.
  const bool incremental = string_at(service, {"spec", "upgradeStrategy", "type"}) == kIncrementalUpgrade;
  if ((!incremental && find_set(service, {"spec", "serveService"}) != nullptr) || has_serve_port(cluster)) return;
  errors.push_back(required_value(fmt::format("{}.template.spec.containers[0].ports", kHeadGroup),
                                  incremental
                                      ? "one port is named serve, or begins with serve-"
                                      : "one port is named serve, or begins with serve-; or set spec.serveService",
                                  kKubeRayRule));
}

void check_rayservice_object(const Json& service, const Json* old, Errors& errors) {
  check_ray_name(service, kMaxRayServiceName, "RayClusters", errors);
  check_annotations(service, errors);
  check_shapes(service, kRayServiceShapes, kKubeRayRule, errors);
  const Json* spec = find_set(service, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  check_ray_manager(*spec, old == nullptr ? nullptr : find_set(*old, {"spec"}), "spec.managedBy", errors);
  check_yaml_text(service, "serveConfigV2", errors);
  check_incremental(service, errors);
  check_ports_limit(*spec, {"serveService", "spec", "ports"}, "spec", errors);
  forbid_service_accounts(service, kConfigField, errors);
  const Json cluster = embedded_cluster(service, kConfigField);
  if (cluster.is_null()) return;
  check_services(service, cluster, errors);
  const Json before = old == nullptr ? Json() : embedded_cluster(*old, kConfigField);
  const raycluster::RayClusterSpec cluster_spec = raycluster::RayClusterSpec::read(cluster);
  check_cluster({cluster, cluster_spec, "spec.rayClusterConfig"}, before.is_null() ? nullptr : &before, errors);
}

}  // namespace

FieldErrors validate_rayservice(const Json& service, const Json* old) {
  FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](Errors& errors) { check_rayservice_object(*old, nullptr, errors); };
  return new_errors([&](Errors& errors) { check_rayservice_object(service, old, errors); }, check_stored);
}

std::vector<UnsupportedField> unsupported_rayservice_fields(const Json& service) {
  std::vector<UnsupportedField> fields;
  const std::string manager = string_at(service, {"spec", "managedBy"});
  if (!manager.empty() && manager != raycluster::kKubeRayManager) return fields;
  const Json* cluster = find_set(service, {"spec", kConfigField});
  if (cluster == nullptr) return fields;
  for (UnsupportedField& field : unsupported_cluster_fields(*cluster, "spec.rayClusterConfig")) {
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace tpuslice::rules
