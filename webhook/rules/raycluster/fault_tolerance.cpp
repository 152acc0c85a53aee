#include "webhook/rules/raycluster/fault_tolerance.h"

#include <fmt/format.h>

#include "api/workloads/raycluster/labels.h"

namespace tpuslice::webhook {
namespace {

using Errors = std::vector<FieldError>;

constexpr std::string_view kOptions = "spec.gcsFaultToleranceOptions";
constexpr std::string_view kHeadEnv = "spec.headGroupSpec.template.spec.containers[0].env";

/// Refuses the environment variable of the head's Ray container.
void forbid_variable(const Json& cluster, std::string_view name, const std::string& detail, Errors& errors) {
  const Json& env = array_at(cluster, {"spec", "headGroupSpec", "template", "spec", "containers", "0", "env"});
  for (std::size_t index = 0; index < env.size(); ++index) {
    if (string_at(env[index], {"name"}) != name) continue;
    errors.push_back(
        forbidden(fmt::format("{}[{}].name", kHeadEnv, index), fmt::format("{}: {}", name, detail), kKubeRayRule));
    return;
  }
}

void forbid_parameter(const raycluster::RayClusterSpec& spec, const std::string& name, const std::string& detail,
                      Errors& errors) {
  const auto found = spec.head.ray_start_params.find(name);
  if (found == spec.head.ray_start_params.end() || found->second.empty()) return;
  errors.push_back(forbidden(fmt::format("spec.headGroupSpec.rayStartParams[{}]", name), detail, kKubeRayRule));
}

void forbid_annotation(const Json& cluster, std::string_view name, const std::string& detail, Errors& errors) {
  if (string_at(cluster, {"metadata", "annotations", name}).empty()) return;
  errors.push_back(forbidden(fmt::format("metadata.annotations[{}]", name), detail, kKubeRayRule));
}

std::string use(std::string_view field) { return fmt::format("use {}.{} instead", kOptions, field); }

void check_options(const Json& cluster, const Json* old, const raycluster::RayClusterSpec& spec, Errors& errors) {
  const Json& options = *spec.fault_tolerance.options;
  const std::string path = fmt::format("{}.backend", kOptions);
  const Json* backend = find_set(options, {"backend"});
  if (backend != nullptr && *backend != raycluster::kRedis && *backend != raycluster::kRocksDb) {
    errors.push_back(not_supported(path, *backend, {std::string(raycluster::kRedis), std::string(raycluster::kRocksDb)},
                                   kKubeRayRule));
  }
  const Json* before = old == nullptr ? nullptr : find_set(*old, {"spec", "gcsFaultToleranceOptions", "backend"});
  if (before != nullptr && backend != nullptr && *before != *backend) {
    errors.push_back(immutable(path, *backend, *before, kKubeRayRule));
  }
  if (spec.fault_tolerance.uses_redis() && find_set(options, {"storage"}) != nullptr) {
    errors.push_back(forbidden(fmt::format("{}.storage", kOptions), "is for the backend rocksdb only", kKubeRayRule));
  }
  forbid_annotation(cluster, raycluster::kFaultTolerance, fmt::format("cannot be combined with {}", kOptions), errors);
  forbid_annotation(cluster, raycluster::kStorageNamespace, use("externalStorageNamespace"), errors);
  forbid_parameter(spec, "redis-password", use("redisPassword"), errors);
  forbid_variable(cluster, raycluster::kRedisPasswordVariable, use("redisPassword"), errors);
  forbid_variable(cluster, raycluster::kRedisAddressVariable, use("redisAddress"), errors);
}

}  // namespace

void check_fault_tolerance(const Json& cluster, const Json* old, const raycluster::RayClusterSpec& spec,
                           Errors& errors) {
  if (spec.fault_tolerance.options != nullptr) check_options(cluster, old, spec, errors);
  if (!spec.fault_tolerance.enabled) {
    forbid_variable(cluster, raycluster::kRedisAddressVariable,
                    fmt::format("makes the GCS fault-tolerant: set {} instead", kOptions), errors);
  }
  forbid_parameter(spec, "redis-username", use("redisUsername"), errors);
  forbid_variable(cluster, raycluster::kRedisUsernameVariable, use("redisUsername"), errors);
}

std::vector<std::string> warn_fault_tolerance(const Json& cluster) {
  const Json* options = find_set(cluster, {"spec", "gcsFaultToleranceOptions"});
  if (options == nullptr || !string_at(*options, {"redisAddress"}).empty()) return {};
  return {fmt::format("{}.redisAddress: is not set, so that a lost head loses its state", kOptions)};
}

}  // namespace tpuslice::webhook
