#include "controllers/raycluster/pods/pod_parts.h"

#include <array>
#include <utility>

#include "controllers/raycluster/pods/environment.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

struct Credential {
  std::string_view field;  ///< Field of gcsFaultToleranceOptions.
  std::string_view variable;
  std::string_view parameter;  ///< Parameter of `ray start`.
};
constexpr std::array kCredentials{
    Credential{"redisUsername", kRedisUsernameVariable, "redis-username"},
    Credential{"redisPassword", kRedisPasswordVariable, "redis-password"},
};

Json variable(std::string_view name, const std::string& value) {
  Json out = {{"name", name}};
  if (!value.empty()) out["value"] = value;
  return out;
}

Json credential_variable(const Credential& credential, const Json& source) {
  Json out = variable(credential.variable, string_at(source, {"value"}));
  if (const Json* from = find_set(source, {"valueFrom"}); from != nullptr) out["valueFrom"] = *from;
  return out;
}

void add_redis(const RayClusterSpec& spec, Json& container) {
  const FaultTolerance& fault_tolerance = spec.fault_tolerance;
  add_default_variable(container, variable("RAY_external_storage_namespace", fault_tolerance.storage_namespace));
  if (fault_tolerance.options == nullptr) {
    // The cleanup of Redis reads the password from the environment.
    const auto password = spec.head.ray_start_params.find("redis-password");
    if (password == spec.head.ray_start_params.end()) return;
    return add_default_variable(container, variable(kRedisPasswordVariable, password->second));
  }
  const Json& options = *fault_tolerance.options;
  add_variable(container, variable(kRedisAddressVariable, string_at(options, {"redisAddress"})));
  for (const Credential& credential : kCredentials) {
    const Json* source = find_set(options, {credential.field});
    if (source != nullptr) add_variable(container, credential_variable(credential, *source));
  }
}

}  // namespace

void annotate_fault_tolerance(const RayClusterSpec& spec, Json& head_annotations) {
  const FaultTolerance& fault_tolerance = spec.fault_tolerance;
  set_label(head_annotations, kFaultTolerance, fault_tolerance.enabled ? "true" : "false");
  if (fault_tolerance.uses_redis()) {
    set_label(head_annotations, kStorageNamespace, fault_tolerance.storage_namespace);
  }
}

void add_fault_tolerance(const RayClusterSpec& spec, NodeType type, Json& container) {
  if (!spec.fault_tolerance.uses_redis()) return;
  if (type == NodeType::kHead) return add_redis(spec, container);
  // Ray's default, 60 s, is less than a new head takes to start.
  add_default_variable(container, variable("RAY_gcs_rpc_server_reconnect_timeout_s", "600"));
}

void add_redis_credentials(const FaultTolerance& fault_tolerance, StringMap& ray_start_params) {
  if (!fault_tolerance.uses_redis() || fault_tolerance.options == nullptr) return;
  for (const Credential& credential : kCredentials) {
    if (find_set(*fault_tolerance.options, {credential.field}) == nullptr) continue;
    // The shell that runs `ray start` has the variable.
    ray_start_params[std::string(credential.parameter)] = fmt::format("${}", credential.variable);
  }
}

}  // namespace tpuslice::raycluster
