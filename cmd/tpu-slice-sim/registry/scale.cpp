#include "cmd/tpu-slice-sim/registry/scale.h"

#include <fmt/format.h>

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"

namespace tpuslice::sim {
namespace {

/// ".spec.replicas" as a JSON pointer: CRD paths are plain members.
Json::json_pointer pointer_of(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return Json::json_pointer(path);
}

std::string selector_text(const Json& object, const std::string& path) {
  if (path.empty()) return {};
  const Json::json_pointer pointer = pointer_of(path);
  if (!object.contains(pointer)) return {};
  const Json& selector = object.at(pointer);
  if (selector.is_string()) return selector.get<std::string>();
  const Result<LabelSelector> parsed = LabelSelector::from_json(selector);
  return parsed ? parsed->to_string() : std::string();
}

std::int64_t number_at(const Json& object, const std::string& path) {
  const Json::json_pointer pointer = pointer_of(path);
  if (path.empty() || !object.contains(pointer) || !object.at(pointer).is_number_integer()) return 0;
  return object.at(pointer).get<std::int64_t>();
}

Json pod_scheduled(const std::string& now) {
  return {{"type", "PodScheduled"}, {"status", "True"}, {"lastProbeTime", nullptr}, {"lastTransitionTime", now}};
}

Status bind(Json& pod, const std::string& node, const std::string& uid, const std::string& now, const Resource& pods) {
  const std::string name = string_at(pod, {"metadata", "name"});
  Resource binding = pods;
  binding.plural = "pods/binding";
  const auto refuse = [&](const std::string& why) { return conflict(binding, name, why); };
  if (!uid.empty() && uid != string_at(pod, {"metadata", "uid"})) return other_uid(pods, pod, uid);
  if (!string_at(pod, {"metadata", "deletionTimestamp"}).empty()) {
    return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  }
  if (const std::string had = string_at(pod, {"spec", "nodeName"}); !had.empty()) {
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", name, had));
  }
  if (const Json* gates = find_path(pod, {"spec", "schedulingGates"}); gates != nullptr && !gates->empty()) {
    return refuse(fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  }
  pod["spec"]["nodeName"] = node;
  Json& conditions = pod["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (auto it = conditions.begin(); it != conditions.end();) {
    it = string_at(*it, {"type"}) == "PodScheduled" ? conditions.erase(it) : it + 1;
  }
  conditions.push_back(pod_scheduled(now));
  return {};
}

}  // namespace

Result<Json> scale_of(const Resource& resource, const Json& object) {
  const ScalePaths& paths = *resource.scale;
  Json scale = {{"kind", "Scale"},
                {"apiVersion", "autoscaling/v1"},
                {"metadata", Json::object()},
                {"spec", Json::object()},
                {"status", {{"replicas", number_at(object, paths.status_replicas)}}}};
  // Zero is omitted.
  if (const auto wanted = number_at(object, paths.spec_replicas); wanted != 0) scale["spec"]["replicas"] = wanted;
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Json* value = find_path(object, {"metadata", field}); value != nullptr) scale["metadata"][field] = *value;
  }
  if (const std::string selector = selector_text(object, paths.selector); !selector.empty()) {
    scale["status"]["selector"] = selector;
  }
  return scale;
}

Status set_scale(const Resource& resource, const Json& scale, Json& object) {
  const Json* replicas = find_path(scale, {"spec", "replicas"});
  const std::int64_t wanted = replicas != nullptr && replicas->is_number_integer() ? replicas->get<std::int64_t>() : 0;
  const std::string name = string_at(object, {"metadata", "name"});
  if (wanted < 0) {
    const Error refused = Error::of(ErrorCode::kInvalid,
                                    "Scale.autoscaling \"{}\" is invalid: spec.replicas: Invalid value: {}: must be "
                                    "greater than or equal to 0",
                                    name, wanted)
                              .with_reason("Invalid");
    if (!resource.custom) return refused;
    return invalid(
        resource, name,
        {FieldProblem{".spec.replicas", fmt::format("Invalid value: {}: should be a non-negative integer", wanted),
                      "FieldValueInvalid"}});
  }
  const std::string version = string_at(scale, {"metadata", "resourceVersion"});
  if (!version.empty() && version != string_at(object, {"metadata", "resourceVersion"})) return stale(resource, name);
  object[pointer_of(resource.scale->spec_replicas)] = wanted;
  return {};
}

void copy_topology_labels(const Storage& storage, const std::string& node, Json& pod) {
  const JsonPtr machine = storage.get("nodes", {{}, node});
  if (!machine) return;
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
    const Json* const value = find_path(*machine, {"metadata", "labels", label});
    if (value != nullptr) pod["metadata"]["labels"][label] = *value;
  }
}

Status bind_pod(Registry& registry, const ObjectKey& key, const std::string& node, const std::string& uid,
                const WriteOptions& options) {
  const ResourcePtr pods = registry.resources().find_id("pods");
  if (node.empty()) {
    return unreasoned(500, "target.name: Required value");
  }
  const std::string now = format_rfc3339(registry.clock().wall());
  const auto written = registry.modify(
      *pods, key, "binding",
      [&](Json& pod) {
        Status bound = bind(pod, node, uid, now, *pods);
        if (bound.ok()) copy_topology_labels(registry.storage(), node, pod);
        return bound;
      },
      options);
  return written ? Status() : Status(written.error());
}

}  // namespace tpuslice::sim
