#include "controllers/raycluster/rules/validator_parts.h"

#include <fmt/format.h>

#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

constexpr std::string_view kOptions = "gcsFaultToleranceOptions";
constexpr std::string_view kHeadEnv = "headGroupSpec.template.spec.containers[0].env";

/// Refuses the environment variable of the head's Ray container.
void forbid_variable(const ClusterView& cluster, std::string_view name, const std::string& detail, Errors& errors) {
  const Json& env = array_at(cluster.json, {"spec", "headGroupSpec", "template", "spec", "containers", "0", "env"});
  for (std::size_t index = 0; index < env.size(); ++index) {
    if (string_at(env[index], {"name"}) != name) continue;
    errors.push_back(forbidden(fmt::format("{}[{}].name", cluster.at(kHeadEnv), index),
                               fmt::format("{}: {}", name, detail), kKubeRayRule));
    return;
  }
}

void forbid_parameter(const ClusterView& cluster, const std::string& name, const std::string& detail, Errors& errors) {
  const auto found = cluster.spec.head.ray_start_params.find(name);
  if (found == cluster.spec.head.ray_start_params.end() || found->second.empty()) return;
  errors.push_back(forbidden(cluster.at(fmt::format("headGroupSpec.rayStartParams[{}]", name)), detail, kKubeRayRule));
}

void forbid_annotation(const ClusterView& cluster, std::string_view name, const std::string& detail, Errors& errors) {
  if (string_at(cluster.json, {"metadata", "annotations", name}).empty()) return;
  errors.push_back(forbidden(fmt::format("metadata.annotations[{}]", name), detail, kKubeRayRule));
}

std::string use(const ClusterView& cluster, std::string_view field) {
  return fmt::format("use {}.{} instead", cluster.at(kOptions), field);
}

void check_options(const ClusterView& cluster, const Json* old, Errors& errors) {
  const Json& options = *cluster.spec.fault_tolerance.options;
  const std::string path = cluster.at(fmt::format("{}.backend", kOptions));
  const Json* backend = find_set(options, {"backend"});
  if (backend != nullptr && *backend != raycluster::kRedis && *backend != raycluster::kRocksDb) {
    errors.push_back(not_supported(path, *backend, {std::string(raycluster::kRedis), std::string(raycluster::kRocksDb)},
                                   kKubeRayRule));
  }
  const Json* before = old == nullptr ? nullptr : find_set(*old, {"spec", kOptions, "backend"});
  if (before != nullptr && backend != nullptr && *before != *backend) {
    errors.push_back(immutable(path, *backend, *before, kKubeRayRule));
  }
  if (cluster.spec.fault_tolerance.uses_redis() && find_set(options, {"storage"}) != nullptr) {
    errors.push_back(
        forbidden(cluster.at(fmt::format("{}.storage", kOptions)), "is for the backend rocksdb only", kKubeRayRule));
  }
  forbid_annotation(cluster, raycluster::kFaultTolerance,
                    fmt::format("cannot be combined with {}", cluster.at(kOptions)), errors);
  forbid_annotation(cluster, raycluster::kStorageNamespace, use(cluster, "externalStorageNamespace"), errors);
  forbid_parameter(cluster, "redis-password", use(cluster, "redisPassword"), errors);
  forbid_variable(cluster, raycluster::kRedisPasswordVariable, use(cluster, "redisPassword"), errors);
  forbid_variable(cluster, raycluster::kRedisAddressVariable, use(cluster, "redisAddress"), errors);
}

}  // namespace

void check_fault_tolerance(const ClusterView& cluster, const Json* old, Errors& errors) {
  if (cluster.spec.fault_tolerance.options != nullptr) check_options(cluster, old, errors);
  if (!cluster.spec.fault_tolerance.enabled) {
    forbid_variable(cluster, raycluster::kRedisAddressVariable,
                    fmt::format("makes the GCS fault-tolerant: set {} instead", cluster.at(kOptions)), errors);
  }
  forbid_parameter(cluster, "redis-username", use(cluster, "redisUsername"), errors);
  forbid_variable(cluster, raycluster::kRedisUsernameVariable, use(cluster, "redisUsername"), errors);
}

std::vector<std::string> warn_fault_tolerance(const ClusterView& cluster) {
  const Json* options = cluster.spec.fault_tolerance.options;
  if (options == nullptr || !string_at(*options, {"redisAddress"}).empty()) return {};
  return {fmt::format("{}.redisAddress: is not set, so that a lost head loses its state", cluster.at(kOptions))};
}

}  // namespace tpuslice::rules
