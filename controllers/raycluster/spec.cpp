#include "controllers/raycluster/spec.h"

#include <algorithm>

#include "controllers/raycluster/labels.h"

namespace tpuslice::raycluster {
namespace {

const Json* member(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string text(const Json& json, const char* name) {
  const Json* value = member(json, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool flag(const Json& json, const char* name) {
  const Json* value = member(json, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::int32_t number(const Json& json, const char* name, std::int32_t fallback) {
  const Json* value = member(json, name);
  if (value == nullptr || !value->is_number_integer()) return fallback;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value->get<std::int64_t>(), -kMax, kMax));
}

StringMap strings(const Json& json, const char* name) {
  StringMap out;
  const Json* values = member(json, name);
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

void read_common(const Json& json, GroupSpec& group) {
  group.ray_start_params = strings(json, "rayStartParams");
  group.resources = strings(json, "resources");
  group.labels = strings(json, "labels");
  group.pod_template = member(json, "template");
}

WorkerGroup read_worker(const Json& json) {
  WorkerGroup group;
  read_common(json, group);
  group.name = text(json, "groupName");
  group.min_replicas = number(json, "minReplicas", 0);
  group.max_replicas = number(json, "maxReplicas", group.max_replicas);
  group.replicas = number(json, "replicas", group.min_replicas);
  group.hosts = std::max(number(json, "numOfHosts", 1), 1);
  group.suspended = flag(json, "suspend");
  const Json* strategy = member(json, "scaleStrategy");
  const Json* names = strategy == nullptr ? nullptr : member(*strategy, "workersToDelete");
  if (names != nullptr && names->is_array()) {
    for (const Json& name : *names) {
      if (name.is_string()) group.workers_to_delete.push_back(name.get<std::string>());
    }
  }
  return group;
}

}  // namespace

std::string GroupSpec::ray_container() const {
  return pod_template == nullptr ? std::string() : string_at(*pod_template, {"spec", "containers", "0", "name"});
}

std::string HeadGroup::port() const {
  const auto found = ray_start_params.find("port");
  return found == ray_start_params.end() ? std::to_string(kGcsPort) : found->second;
}

std::int32_t WorkerGroup::desired_replicas() const {
  if (suspended) return 0;
  return std::max(std::min(std::max(replicas, min_replicas), max_replicas), 0);
}

const WorkerGroup* RayClusterSpec::group(std::string_view name) const {
  const auto found = std::ranges::find(groups, name, &WorkerGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

bool RayClusterSpec::managed_elsewhere() const {
  return !managed_by.empty() && managed_by != "ray.io/kuberay-operator";
}

RayClusterSpec RayClusterSpec::read(const Object& cluster) {
  RayClusterSpec out;
  out.key = cluster.key();
  out.uid = cluster.uid();
  out.owner = cluster.as_controller();
  out.creator = cluster.label(kOriginatedFromCrd);
  if (out.creator.empty()) out.creator = "RayCluster";
  const Json* spec = member(cluster.json(), "spec");
  if (spec == nullptr) return out;
  out.suspend = flag(*spec, "suspend");
  out.managed_by = text(*spec, "managedBy");
  out.ray_version = text(*spec, "rayVersion");
  out.head_service_annotations = strings(*spec, "headServiceAnnotations");
  if (const Json* head = member(*spec, "headGroupSpec"); head != nullptr) {
    read_common(*head, out.head);
    out.head.service_type = text(*head, "serviceType");
    out.head.service = member(*head, "headService");
  }
  if (const Json* groups = member(*spec, "workerGroupSpecs"); groups != nullptr && groups->is_array()) {
    for (const Json& group : *groups) out.groups.push_back(read_worker(group));
  }
  return out;
}

}  // namespace tpuslice::raycluster
