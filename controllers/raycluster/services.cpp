#include "controllers/raycluster/services.h"

#include <algorithm>
#include <utility>

#include "api/workloads/raycluster/labels.h"
#include "controllers/raycluster/labels.h"
#include "controllers/raycluster/names.h"
#include "tpu/labels.h"
#include "tpu/naming.h"
#include "tpu/worker_env.h"

namespace tpuslice::raycluster {
namespace {

Json object_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_object() ? *found : Json::object();
}

Json service_metadata(const RayClusterSpec& spec, std::string name) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

/// Ports of the head container, or Ray's defaults if it declares none; always with the metrics port. Sorted by name.
Json head_ports(const RayClusterSpec& spec) {
  std::map<std::string, std::int64_t> ports;
  const Json* declared = spec.head.pod_template == nullptr
                             ? nullptr
                             : find_path(*spec.head.pod_template, {"spec", "containers", "0", "ports"});
  if (declared != nullptr && declared->is_array()) {
    for (const Json& port : *declared) {
      const Json* number = find_path(port, {"containerPort"});
      if (number == nullptr || !number->is_number_integer()) continue;
      const auto value = number->get<std::int64_t>();
      const std::string name = string_at(port, {"name"});
      ports[name.empty() ? std::to_string(value) + "-port" : name] = value;
    }
  }
  if (ports.empty()) {
    ports = {{"client", kClientPort}, {"dashboard", kDashboardPort}, {"gcs-server", kGcsPort}, {"serve", kServePort}};
  }
  ports.try_emplace("metrics", kMetricsPort);
  Json out = Json::array();
  for (const auto& [name, port] : ports) out.push_back({{"name", name}, {"port", port}, {"appProtocol", "tcp"}});
  return out;
}

/// Selects the head pod. A label that its template overrides has the value of the template.
Json head_selector(const RayClusterSpec& spec) {
  Json out = Json::object();
  set_label(out, kIdentifier, identifier(spec, kHeadNode));
  set_label(out, tpu::kAppName, kApplication);
  set_label(out, kCreatedBy, kOperator);
  for (const auto& [key, value] : out.items()) {
    std::string chosen = value.get<std::string>();
    if (spec.head.pod_template != nullptr) {
      chosen = string_at(*spec.head.pod_template, {"metadata", "labels", key}, chosen);
    }
    if (const auto label = spec.head.labels.find(key); label != spec.head.labels.end()) chosen = label->second;
    value = chosen;
  }
  set_label(out, tpu::kRayCluster, spec.key.name);
  set_label(out, tpu::kRayNodeType, kHeadNode);
  return out;
}

/// headService with the ports it does not declare, and our selector.
Object from_template(const RayClusterSpec& spec, const Json& service) {
  Json metadata = service_metadata(spec, head_service_name(spec));
  Json labels = object_at(service, {"metadata", "labels"});
  labels.update(head_selector(spec));
  Json annotations = Json(spec.head_service_annotations);
  annotations.update(object_at(service, {"metadata", "annotations"}));
  metadata["labels"] = std::move(labels);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  Json service_spec = object_at(service, {"spec"});
  Json ports =
      service_spec.contains("ports") && service_spec["ports"].is_array() ? service_spec["ports"] : Json::array();
  for (Json& port : head_ports(spec)) {
    const std::string name = string_at(port, {"name"});
    const bool declared = std::ranges::any_of(ports, [&](const Json& own) {
      return string_at(own, {"name"}) == name || (own.contains("port") && own["port"] == port["port"]);
    });
    if (!declared) ports.push_back(std::move(port));
  }
  service_spec["ports"] = std::move(ports);
  service_spec["selector"] = head_selector(spec);
  if (!service_spec.contains("type") && !spec.head.service_type.empty()) service_spec["type"] = spec.head.service_type;
  return Object(Json{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", metadata}, {"spec", service_spec}});
}

/// What a user can do about a service of another owner.
std::string remedy(const RayClusterSpec& spec, const std::string& service) {
  return service == head_service_name(spec)
             ? "set spec.headGroupSpec.headService.metadata.name to another name, or delete the service"
             : "rename the RayCluster, or delete the service";
}

Service decide_service(const RayClusterSpec& spec, const RayClusterObserved& seen, Object desired) {
  const ObjectKey key = desired.key();
  const auto found = std::ranges::find_if(seen.services, [&](const auto& service) { return service->key == key; });
  const ObjectView* live = found == seen.services.end() ? nullptr : found->get();
  Service out{std::move(desired), live == nullptr ? std::string() : live->uid, {}};
  out.decision = plan::decide_service(out.desired.json(), live);
  if (out.decision.kind == plan::ServiceDecision::Kind::kConflict) {
    out.decision.conflict = fmt::format("{}, but RayCluster {} (uid {}) needs that name: {}", out.decision.conflict,
                                        spec.key.to_string(), spec.uid, remedy(spec, key.name));
  }
  return out;
}

std::string_view describe(plan::ServiceDecision::Kind kind) {
  using enum plan::ServiceDecision::Kind;
  switch (kind) {
    case kCreate:
      return "is being created";
    case kPatch:
      return "is being restored";
    case kWait:
      return "is being deleted, and is then created again";
    case kNone:
    case kConflict:
      break;
  }
  return {};
}

bool is_multislice(const WorkerGroup& group) {
  const Json* containers =
      group.pod_template == nullptr ? nullptr : find_path(*group.pod_template, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return false;
  return std::ranges::any_of(*containers, [](const Json& container) {
    const Json* env = find_path(container, {"env"});
    return env != nullptr && tpu::wants_multislice(1, *env);
  });
}

}  // namespace

Object build_head_service(const RayClusterSpec& spec, const Options& options) {
  if (spec.head.service != nullptr) return from_template(spec, *spec.head.service);
  Json metadata = service_metadata(spec, head_service_name(spec));
  metadata["labels"] = head_selector(spec);
  if (!spec.head_service_annotations.empty()) metadata["annotations"] = spec.head_service_annotations;
  Json service_spec = {{"selector", head_selector(spec)}, {"ports", head_ports(spec)}};
  const std::string& type = spec.head.service_type;
  if (!type.empty()) service_spec["type"] = type;
  if (!options.head_cluster_ip && (type.empty() || type == "ClusterIP")) {
    service_spec["clusterIP"] = "None";
    service_spec["publishNotReadyAddresses"] = true;
  }
  return Object(Json{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", metadata}, {"spec", service_spec}});
}

Object build_headless_service(const RayClusterSpec& spec) {
  Json metadata = service_metadata(spec, tpu::ray_headless_service(spec.key.name));
  Json labels = Json::object();
  set_label(labels, kHeadlessService, spec.key.name);
  set_label(labels, tpu::kRayCluster, spec.key.name);  // Not set by upstream; our watch selects by it.
  metadata["labels"] = std::move(labels);
  Json selector = Json::object();
  set_label(selector, tpu::kRayCluster, spec.key.name);
  set_label(selector, tpu::kRayNodeType, kWorkerNode);
  const Json service_spec = {
      {"clusterIP", "None"}, {"type", "ClusterIP"}, {"publishNotReadyAddresses", true}, {"selector", selector}};
  return Object(Json{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", metadata}, {"spec", service_spec}});
}

bool needs_headless_service(const RayClusterSpec& spec) {
  return std::ranges::any_of(spec.groups,
                             [](const WorkerGroup& group) { return group.hosts > 1 || is_multislice(group); });
}

std::vector<ObjectKey> service_keys(const RayClusterSpec& spec) {
  std::vector<ObjectKey> out{{spec.key.namespace_name, head_service_name(spec)}};
  if (needs_headless_service(spec)) out.push_back({spec.key.namespace_name, tpu::ray_headless_service(spec.key.name)});
  return out;
}

const ObjectView* find_head_service(const RayClusterSpec& spec, const RayClusterObserved& seen) {
  const std::string name = head_service_name(spec);
  const auto found = std::ranges::find_if(seen.services, [&](const auto& service) {
    return service->key.name == name && service->controller && service->controller->uid == spec.uid;
  });
  return found == seen.services.end() ? nullptr : found->get();
}

std::vector<Service> decide_services(const RayClusterSpec& spec, const RayClusterObserved& seen,
                                     const Options& options) {
  std::vector<Service> out{decide_service(spec, seen, build_head_service(spec, options))};
  if (needs_headless_service(spec)) out.push_back(decide_service(spec, seen, build_headless_service(spec)));
  return out;
}

std::string service_conflicts(const std::vector<Service>& services) {
  std::string out;
  for (const Service& service : services) {
    const std::string& conflict = service.decision.conflict;
    if (!conflict.empty()) out += (out.empty() ? "" : "; ") + conflict;
  }
  return out;
}

Problem service_problem(const std::vector<Service>& services, const std::optional<plan::Failure>& last_failure) {
  if (std::string conflicts = service_conflicts(services); !conflicts.empty()) {
    return {std::string(kServiceConflict), std::move(conflicts)};
  }
  if (last_failure && last_failure->reason == kFailedService) return {last_failure->reason, last_failure->message};
  std::string pending;
  for (const Service& service : services) {
    const std::string_view progress = describe(service.decision.kind);
    if (progress.empty()) continue;
    pending += fmt::format("{}service {} {}", pending.empty() ? "" : "; ", service.desired.name(), progress);
  }
  return pending.empty() ? Problem{} : Problem{"ServicesPending", std::move(pending)};
}

}  // namespace tpuslice::raycluster
