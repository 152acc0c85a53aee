#include "controllers/raycluster/pods/environment.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

Json& env_of(Json& container) {
  Json& env = container["env"];
  if (!env.is_array()) env = Json::array();
  return env;
}

bool declares(const Json& env, std::string_view name) {
  return std::ranges::any_of(env, [&](const Json& variable) { return string_at(variable, {"name"}) == name; });
}

void append(Json& env, std::string_view name, const std::string& value) {
  env.push_back({{"name", name}, {"value", value}});
}

void append_field(Json& env, std::string_view name, const std::string& path) {
  env.push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}

void append_default(Json& env, std::string_view name, const std::string& value) {
  if (!declares(env, name)) append(env, name, value);
}

void append_head_address(Json& env, const std::string& fqdn) {
  append(env, "FQ_RAY_IP", fqdn);
  append(env, "RAY_IP", fqdn.substr(0, fqdn.find('.')));
}

}  // namespace

void add_ray_environment(Json& container, const RayEnvironment& environment, const Options& options) {
  Json& env = env_of(container);
  for (const Json& variable : options.pod_defaults.container_env) {
    if (!declares(env, string_at(variable, {"name"}))) env.push_back(variable);
  }
  const bool head = environment.type == NodeType::kHead;
  if (!head) append_head_address(env, environment.head_fqdn);
  append_field(env, "RAY_CLUSTER_NAME", fmt::format("metadata.labels['{}']", kRayCluster));
  append_field(env, "RAY_CLUSTER_NAMESPACE", "metadata.namespace");
  append_field(env, "RAY_CLOUD_INSTANCE_ID", "metadata.name");
  append_field(env, "RAY_NODE_TYPE_NAME", fmt::format("metadata.labels['{}']", kRayGroup));
  append(env, "KUBERAY_GEN_RAY_START_CMD", environment.ray_start);
  append_default(env, "RAY_PORT", environment.head_port);
  if (environment.creator == kRayServiceCrd) {
    append_default(env, "RAY_timeout_ms_task_wait_for_death_info", "0");
    append_default(env, "RAY_gcs_server_request_timeout_seconds", "5");
    append_default(env, "RAY_SERVE_KV_TIMEOUT_S", "5");
  }
  append_default(env, "RAY_ADDRESS", (head ? "127.0.0.1" : environment.head_fqdn) + ":" + environment.head_port);
  append_default(env, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
  if (head) {
    append(env, "RAY_USAGE_STATS_EXTRA_TAGS",
           fmt::format("kuberay_version={};kuberay_crd={}", kCompatibleRelease, environment.creator));
  }
  append_default(env, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1");
}

void add_variable(Json& container, Json variable) { env_of(container).push_back(std::move(variable)); }

void add_default_variable(Json& container, Json variable) {
  Json& env = env_of(container);
  if (!declares(env, string_at(variable, {"name"}))) env.push_back(std::move(variable));
}

void add_init_environment(Json& init_container, const std::string& head_fqdn) {
  append_head_address(env_of(init_container), head_fqdn);
}

}  // namespace tpuslice::raycluster
