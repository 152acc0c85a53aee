#include "controllers/raycluster/pods/autoscaler.h"

#include <algorithm>
#include <utility>

#include "api/types/resource_type.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/pod_parts.h"
#include "controllers/raycluster/pods/token_auth.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::string_view kCommand =
    "ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace $(RAY_CLUSTER_NAMESPACE)";

Json field_variable(const char* name, const std::string& path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

Json default_container(const Json& ray_container) {
  const Json resources = {{"cpu", "500m"}, {"memory", "512Mi"}};
  const Json env = {field_variable("RAY_CLUSTER_NAME", fmt::format("metadata.labels['{}']", kRayCluster)),
                    field_variable("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
                    field_variable("RAY_HEAD_POD_NAME", "metadata.name"),
                    {{"name", "KUBERAY_CRD_VER"}, {"value", "v1"}},
                    {{"name", kAutoscalerCommandVariable}, {"value", kCommand}}};
  Json out = {{"name", kAutoscalerContainer},
              {"imagePullPolicy", "IfNotPresent"},
              {"command", {"/bin/bash", "-c", "--"}},
              {"args", Json::array({kCommand})},
              {"env", env},
              {"resources", {{"limits", resources}, {"requests", resources}}}};
  if (const auto image = ray_container.find("image"); image != ray_container.end()) out["image"] = *image;
  return out;
}

/// Appends env, envFrom and volumeMounts; replaces the other members.
void apply_options(const Json& options, Json& container) {
  for (const char* member : {"resources", "image", "imagePullPolicy", "securityContext"}) {
    if (const Json* value = find_set(options, {member}); value != nullptr) container[member] = *value;
  }
  for (const char* member : {"command", "args"}) {
    if (const Json& words = array_at(options, {member}); !words.empty()) container[member] = words;
  }
  for (const char* member : {"env", "envFrom", "volumeMounts"}) {
    for (const Json& element : array_at(options, {member})) container[member].push_back(element);
  }
}

void set_version(const std::string& version, Json& ray_container) {
  if (version.empty()) return;
  Json& env = ray_container["env"];
  if (!env.is_array()) env = Json::array();
  env.push_back({{"name", kAutoscalerV2Variable}, {"value", version == "v2" ? "true" : "false"}});
}

Object rbac_object(const RayClusterSpec& spec, const ResourceType& type, const std::string& name, Json content) {
  content["apiVersion"] = type.api_version();
  content["kind"] = type.kind;
  content["metadata"] = child_metadata(spec, name);
  return Object(std::move(content));
}

Json rule(const char* group, const char* resource, std::initializer_list<const char*> verbs) {
  return {{"apiGroups", {group}}, {"resources", {resource}}, {"verbs", Json(verbs)}};
}

}  // namespace

void add_autoscaler(const RayClusterSpec& spec, Json& pod_spec) {
  Json& containers = pod_spec["containers"];
  Json autoscaler = default_container(containers[0]);
  if (spec.auth.token) add_token_auth(spec, autoscaler);
  if (spec.autoscaling.options != nullptr) apply_options(*spec.autoscaling.options, autoscaler);
  set_version(spec.autoscaling.version, containers[0]);
  containers.push_back(std::move(autoscaler));
  pod_spec["serviceAccountName"] = head_service_account(spec);
}

void share_logs_with_autoscaler(Json& pod_spec) {
  Json& containers = pod_spec["containers"];
  add_log_volume(pod_spec, containers[0]);
  const auto autoscaler = std::ranges::find_if(
      containers, [](const Json& container) { return string_at(container, {"name"}) == kAutoscalerContainer; });
  if (autoscaler != containers.end()) add_log_volume(pod_spec, *autoscaler);
}

std::vector<Object> autoscaler_children(const RayClusterSpec& spec) {
  const std::string name = autoscaler_name(spec);
  std::vector<Object> out;
  if (own_service_account(spec).empty()) out.push_back(rbac_object(spec, kServiceAccounts, name, Json::object()));
  out.push_back(rbac_object(
      spec, kRoles, name,
      {{"rules", Json::array({rule("", "pods", {"get", "list", "watch", "patch"}), rule("", "pods/resize", {"patch"}),
                              rule("ray.io", "rayclusters", {"get", "patch"})})}}));
  out.push_back(rbac_object(spec, kRoleBindings, name,
                            {{"subjects", Json::array({{{"kind", "ServiceAccount"},
                                                        {"name", head_service_account(spec)},
                                                        {"namespace", spec.key.namespace_name}}})},
                             {"roleRef", {{"apiGroup", kRoles.group}, {"kind", kRoles.kind}, {"name", name}}}}));
  return out;
}

}  // namespace tpuslice::raycluster
