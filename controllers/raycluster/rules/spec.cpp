#include "controllers/raycluster/rules/spec.h"

#include <algorithm>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

std::int32_t int32_or(const Json& json, const char* name, std::int32_t fallback) {
  const Json* value = find_set(json, {name});
  if (value == nullptr || !value->is_number_integer()) return fallback;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value->get<std::int64_t>(), -kMax, kMax));
}

/// Numbers and booleans are read as their JSON text.
StringMap parameters(const Json& json, const char* name) {
  StringMap out;
  const Json* values = find_set(json, {name});
  if (values == nullptr || !values->is_object()) return out;
  for (const auto& [key, value] : values->items()) {
    if (value.is_string()) {
      out.emplace(key, value.get<std::string>());
    } else if (!value.is_null()) {
      out.emplace(key, value.dump());
    }
  }
  return out;
}

void read_group(const Json& json, GroupSpec& group) {
  group.ray_start_params = parameters(json, "rayStartParams");
  group.resources = parameters(json, "resources");
  group.labels = parameters(json, "labels");
  group.pod_template = find_set(json, {"template"});
}

WorkerGroup read_worker_group(const Json& json) {
  WorkerGroup group;
  read_group(json, group);
  group.name = string_at(json, {"groupName"});
  group.min_replicas = int32_or(json, "minReplicas", 0);
  group.max_replicas = int32_or(json, "maxReplicas", group.max_replicas);
  group.replicas = int32_or(json, "replicas", group.min_replicas);
  group.hosts = std::max(int32_or(json, "numOfHosts", 1), 1);
  group.suspended = bool_at(json, {"suspend"});
  for (const Json& name : array_at(json, {"scaleStrategy", "workersToDelete"})) {
    if (name.is_string()) group.workers_to_delete.push_back(name.get<std::string>());
  }
  return group;
}

Authentication read_auth(const Json& spec) {
  const Json* options = find_set(spec, {"authOptions"});
  if (options == nullptr) return {};
  return {string_at(*options, {"mode"}) == "token", bool_at(*options, {"enableK8sTokenAuth"}),
          string_at(*options, {"secretName"})};
}

FaultTolerance read_fault_tolerance(const Json& cluster) {
  FaultTolerance out;
  out.options = find_set(cluster, {"spec", "gcsFaultToleranceOptions"});
  out.enabled = out.options != nullptr ||
                equals_ignoring_case(string_at(cluster, {"metadata", "annotations", kFaultTolerance}), "true");
  out.storage_namespace = string_at(cluster, {"metadata", "uid"});
  const Json* annotation = find_set(cluster, {"metadata", "annotations", kStorageNamespace});
  if (annotation != nullptr) out.storage_namespace = string_at(*annotation, {});
  if (out.options == nullptr) return out;
  out.backend = string_at(*out.options, {"backend"});
  const std::string chosen = string_at(*out.options, {"externalStorageNamespace"});
  if (!chosen.empty()) out.storage_namespace = chosen;
  return out;
}

}  // namespace

std::string GroupSpec::ray_container() const {
  return pod_template == nullptr ? std::string() : string_at(*pod_template, {"spec", "containers", "0", "name"});
}

std::string HeadGroup::port() const {
  const auto found = ray_start_params.find("port");
  return found == ray_start_params.end() ? std::to_string(kGcsPort) : found->second.str();
}

std::int32_t WorkerGroup::bounded_replicas() const {
  return std::max(std::min(std::max(replicas, min_replicas), max_replicas), 0);
}

const WorkerGroup* RayClusterSpec::group(std::string_view name) const {
  const auto found = std::ranges::find(groups, name, &WorkerGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

bool RayClusterSpec::managed_by_other() const { return !managed_by.empty() && managed_by != kKubeRayManager; }

RayClusterSpec RayClusterSpec::read(const Json& cluster) {
  RayClusterSpec out;
  out.key = {string_at(cluster, {"metadata", "namespace"}), string_at(cluster, {"metadata", "name"})};
  out.uid = string_at(cluster, {"metadata", "uid"});
  out.owner = {string_at(cluster, {"apiVersion"}), string_at(cluster, {"kind"}), out.key.name, out.uid};
  out.creator = string_at(cluster, {"metadata", "labels", kOriginatedFromCrd});
  if (out.creator.empty()) out.creator = "RayCluster";
  out.serve_service = string_at(cluster, {"metadata", "annotations", kServeService}) == "true";
  out.rolling = string_at(cluster, {"metadata", "annotations", kUpgrade}) == kRollingUpgrade;
  out.annotations = string_map_at(cluster, {"metadata", "annotations"});
  out.fault_tolerance = read_fault_tolerance(cluster);
  const Json* spec = find_set(cluster, {"spec"});
  if (spec == nullptr) return out;
  out.source = spec;
  out.recreate = string_at(*spec, {"upgradeStrategy", "type"}) == "Recreate";
  out.suspend = bool_at(*spec, {"suspend"});
  out.autoscaling = {bool_at(*spec, {"enableInTreeAutoscaling"}), string_at(*spec, {"autoscalerOptions", "version"}),
                     find_set(*spec, {"autoscalerOptions"})};
  out.auth = read_auth(*spec);
  out.managed_by = string_at(*spec, {"managedBy"});
  out.ray_version = string_at(*spec, {"rayVersion"});
  out.head_service_annotations = parameters(*spec, "headServiceAnnotations");
  if (const Json* head = find_set(*spec, {"headGroupSpec"}); head != nullptr) {
    read_group(*head, out.head);
    out.head.service_type = string_at(*head, {"serviceType"});
    out.head.service = find_set(*head, {"headService"});
    out.head.ingress = bool_at(*head, {"enableIngress"});
    out.head.ingress_options = find_set(*head, {"ingressOptions"});
  }
  for (const Json& group : array_at(*spec, {"workerGroupSpecs"})) out.groups.push_back(read_worker_group(group));
  return out;
}

}  // namespace tpuslice::raycluster
