// What a snapshot keeps of an object: the fields that api/types/views.h decodes.
#include <algorithm>
#include <array>
#include <utility>

#include "fleet/snapshot.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

/// A tree of the members that are kept; `true` keeps all below. Elements of an array are trimmed one by one.
const Json& shape_of(std::string_view kind) {
  static const Json kShapes = Json::parse(R"({
    "Node": {
      "spec": {"unschedulable": true, "taints": {"key": true, "value": true, "effect": true}},
      "status": {"allocatable": true,
                 "conditions": {"type": true, "status": true, "reason": true, "lastTransitionTime": true}}},
    "Pod": {
      "spec": {
        "nodeName": true, "priority": true, "preemptionPolicy": true, "activeDeadlineSeconds": true,
        "terminationGracePeriodSeconds": true, "nodeSelector": true, "affinity": {"nodeAffinity": true},
        "tolerations": {"key": true, "value": true, "effect": true, "operator": true},
        "restartPolicy": true, "schedulingGates": true, "resources": true, "overhead": true,
        "resourceClaims": {"name": true, "resourceClaimName": true, "resourceClaimTemplateName": true},
        "containers": {"name": true, "resources": {"limits": true, "requests": true}},
        "initContainers": {"name": true, "restartPolicy": true, "resources": {"limits": true, "requests": true}}},
      "status": {
        "phase": true, "reason": true, "message": true, "nominatedNodeName": true,
        "conditions": {"type": true, "status": true, "reason": true, "message": true, "lastTransitionTime": true},
        "containerStatuses": {
          "name": true, "ready": true, "restartCount": true,
          "state": {"waiting": true, "terminated": {"reason": true, "message": true, "exitCode": true}},
          "lastState": {"terminated": {"reason": true, "message": true, "exitCode": true}}},
        "initContainerStatuses": {
          "name": true, "ready": true, "restartCount": true,
          "state": {"waiting": true, "terminated": {"reason": true, "message": true, "exitCode": true}},
          "lastState": {"terminated": {"reason": true, "message": true, "exitCode": true}}}}},
    "ProvisioningRequest": {
      "spec": {"provisioningClassName": true},
      "status": {"conditions": true}},
    "ConfigMap": {"data": true}
  })");
  static const Json kMetadataOnly = Json::object();
  const auto found = kShapes.find(kind);
  return found == kShapes.end() ? kMetadataOnly : *found;
}

const Json& shape_of_metadata() {
  static const Json kShape = Json::parse(R"({
    "name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
    "creationTimestamp": true, "deletionTimestamp": true, "deletionGracePeriodSeconds": true,
    "ownerReferences": {"apiVersion": true, "kind": true, "name": true, "uid": true, "controller": true}})");
  return kShape;
}

/// NOLINTNEXTLINE(misc-no-recursion): as deep as the shape
Json cut(const Json& value, const Json& shape) {
  if (!shape.is_object()) return value;
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& each : value) out.push_back(cut(each, shape));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [member, below] : shape.items()) {
    if (const auto found = value.find(member); found != value.end()) out[member] = cut(*found, below);
  }
  return out;
}

void keep_map(const Json& metadata, const char* member, bool all, Json& out) {
  const Json& map = object_at(metadata, {member});
  for (const auto& [key, value] : map.items()) {
    const bool kept =
        all || std::ranges::any_of(kept_keys(), [&](const std::string& prefix) { return key.starts_with(prefix); });
    if (kept) out[member][key] = value;
  }
}

}  // namespace

const KeptKeys& kept_keys() {
  static const KeptKeys kKept = [] {
    KeptKeys keys(tpu::kKeptKeys.begin(), tpu::kKeptKeys.end());
    keys.emplace_back(tpu::kAnnotationPrefix);
    keys.emplace_back(tpu::kCompletionIndex);
    return keys;
  }();
  return kKept;
}

Json trimmed(const Json& object) {
  if (!object.is_object()) return object;
  const std::string kind = string_at(object, {"kind"});
  Json out = cut(object, shape_of(kind));
  for (const char* member : {"apiVersion", "kind"}) {
    if (object.contains(member)) out[member] = object[member];
  }
  const Json& metadata = object_at(object, {"metadata"});
  out["metadata"] = cut(metadata, shape_of_metadata());
  keep_map(metadata, "labels", kind == "Node", out["metadata"]);
  keep_map(metadata, "annotations", false, out["metadata"]);
  return out;
}

Json with_kind(Json object, std::string_view kind) {
  if (object.is_object() && string_at(object, {"kind"}).empty()) object["kind"] = kind;
  return object;
}

Json trimmed_snapshot(const Json& document) {
  constexpr std::array<std::pair<const char*, std::string_view>, 4> kLists = {
      {{"nodes", "Node"}, {"pods", "Pod"}, {"workloads", ""}, {"provisioningRequests", "ProvisioningRequest"}}};
  Json out = document;
  for (const auto& [list, kind] : kLists) {
    const auto found = out.find(list);
    if (found == out.end() || !found->is_array()) continue;
    for (Json& each : *found) each = trimmed(with_kind(std::move(each), kind));
  }
  if (const auto records = out.find("preemptions"); records != out.end()) {
    *records = trimmed(with_kind(std::move(*records), "ConfigMap"));
  }
  return out;
}

}  // namespace tpuslice::fleet
