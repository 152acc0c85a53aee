#include "controllers/raycluster/children/services.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/host_names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"
#include "tpu/worker_env.h"

namespace tpuslice::raycluster {
namespace {

Json service_metadata(const RayClusterSpec& spec, std::string name) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

Object service_object(Json metadata, Json spec) {
  return Object(
      Json{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
}

/// "serve", "serve-grpc"
bool is_serve_port(std::string_view name) { return name == "serve" || name.starts_with("serve-"); }

Json service_ports(const RayClusterSpec& spec) {
  Json out = Json::array();
  for (const auto& [name, port] : head_ports(spec)) {
    out.push_back({{"name", name}, {"port", port}, {"appProtocol", "tcp"}});
  }
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
  set_label(out, kRayCluster, spec.key.name);
  set_label(out, kRayNodeType, kHeadNode);
  return out;
}

/// headService with the ports it does not declare, and our selector.
Object from_template(const RayClusterSpec& spec, const Json& service) {
  Json metadata = service_metadata(spec, head_service_name(spec));
  Json labels = object_at(service, {"metadata", "labels"});
  labels.update(head_selector(spec));
  Json annotations = object_at(service, {"metadata", "annotations"});
  for (const auto& [key, value] : spec.head_service_annotations) annotations[key] = value;
  metadata["labels"] = std::move(labels);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  Json service_spec = object_at(service, {"spec"});
  Json ports =
      service_spec.contains("ports") && service_spec["ports"].is_array() ? service_spec["ports"] : Json::array();
  for (Json& port : service_ports(spec)) {
    const std::string name = string_at(port, {"name"});
    const bool declared = std::ranges::any_of(ports, [&](const Json& own) {
      return string_at(own, {"name"}) == name || (own.contains("port") && own["port"] == port["port"]);
    });
    if (!declared) ports.push_back(std::move(port));
  }
  service_spec["ports"] = std::move(ports);
  service_spec["selector"] = head_selector(spec);
  if (!service_spec.contains("type") && !spec.head.service_type.empty()) service_spec["type"] = spec.head.service_type;
  return service_object(std::move(metadata), std::move(service_spec));
}

/// What a user can do about a service of another owner.
std::string remedy(const RayClusterSpec& spec, const std::string& service) {
  return service == head_service_name(spec)
             ? "set spec.headGroupSpec.headService.metadata.name to another name, or delete the service"
             : "rename the RayCluster, or delete the service";
}

bool is_orphan_service(const Json& desired, const ObjectView& live) {
  return plan::is_orphan(desired, live) &&
         string_map_at(live.object().json(), {"spec", "selector"}) == string_map_at(desired, {"spec", "selector"});
}

Service decide_service(const RayClusterSpec& spec, const RayClusterObserved& seen, Object desired) {
  const ObjectKey key = desired.key();
  const auto found = std::ranges::find_if(seen.services, [&](const auto& service) { return service->key == key; });
  const ObjectView* live = found == seen.services.end() ? nullptr : found->get();
  Service out{std::move(desired), live == nullptr ? std::string() : live->uid, {}};
  if (live != nullptr && is_orphan_service(out.desired.json(), *live)) {
    out.decision = plan::adopt(out.desired.json());
    out.adopted = true;
    return out;
  }
  out.decision = plan::decide_service(out.desired.json(), live);
  if (out.decision.kind == plan::ChildDecision::Kind::kConflict) {
    out.decision.conflict = fmt::format("{}, but RayCluster {} (uid {}) needs that name: {}", out.decision.conflict,
                                        spec.key.to_string(), spec.uid, remedy(spec, key.name));
  }
  return out;
}

std::string_view progress_of(const Service& service) {
  if (service.adopted) return "is being adopted";
  return plan::progress(service.decision.kind, "is being restored");
}

}  // namespace

bool is_multislice(const WorkerGroup& group) {
  const Json* containers =
      group.pod_template == nullptr ? nullptr : find_path(*group.pod_template, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return false;
  return std::ranges::any_of(*containers, [](const Json& container) {
    const Json* env = find_path(container, {"env"});
    return env != nullptr && tpu::wants_multislice(1, *env);
  });
}

std::map<std::string, std::int64_t> head_ports(const RayClusterSpec& spec) {
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
  return ports;
}

Json serve_ports(const RayClusterSpec& spec) {
  Json out = Json::array();
  for (const auto& [name, port] : head_ports(spec)) {
    if (is_serve_port(name)) out.push_back({{"name", name}, {"port", port}});
  }
  return out;
}

Object build_head_service(const RayClusterSpec& spec, const Options& options) {
  if (spec.head.service != nullptr) return from_template(spec, *spec.head.service);
  Json metadata = service_metadata(spec, head_service_name(spec));
  metadata["labels"] = head_selector(spec);
  if (!spec.head_service_annotations.empty()) metadata["annotations"] = spec.head_service_annotations;
  Json service_spec = {{"selector", head_selector(spec)}, {"ports", service_ports(spec)}};
  const std::string& type = spec.head.service_type;
  if (!type.empty()) service_spec["type"] = type;
  if (!options.head_cluster_ip && (type.empty() || type == "ClusterIP")) {
    service_spec["clusterIP"] = "None";
    service_spec["publishNotReadyAddresses"] = true;
  }
  return service_object(std::move(metadata), std::move(service_spec));
}

Object build_headless_service(const RayClusterSpec& spec) {
  Json metadata = service_metadata(spec, ray_headless_service(spec.key.name));
  Json labels = Json::object();
  set_label(labels, kHeadlessService, spec.key.name);
  set_label(labels, kRayCluster, spec.key.name);  // Not set by upstream; our watch selects by it.
  metadata["labels"] = std::move(labels);
  Json selector = Json::object();
  set_label(selector, kRayCluster, spec.key.name);
  set_label(selector, kRayNodeType, kWorkerNode);
  Json service_spec = {
      {"clusterIP", "None"}, {"type", "ClusterIP"}, {"publishNotReadyAddresses", true}, {"selector", selector}};
  return service_object(std::move(metadata), std::move(service_spec));
}

Object build_serve_service(const RayClusterSpec& spec) {
  Json metadata = service_metadata(spec, serve_service_name(spec));
  Json labels = Json::object();
  set_label(labels, kOriginatedFromCrd, "RayCluster");
  set_label(labels, kOriginatedFromCrName, spec.key.name);
  set_label(labels, kServe, spec.key.name + "-serve");
  set_label(labels, kRayCluster, spec.key.name);  // Not set by upstream; our watch selects by it.
  metadata["labels"] = std::move(labels);
  Json selector = Json::object();
  set_label(selector, kRayCluster, spec.key.name);
  Json service_spec = {{"selector", std::move(selector)}, {"ports", serve_ports(spec)}};
  if (!spec.head.service_type.empty()) service_spec["type"] = spec.head.service_type;
  return service_object(std::move(metadata), std::move(service_spec));
}

bool needs_headless_service(const RayClusterSpec& spec) {
  return std::ranges::any_of(spec.groups,
                             [](const WorkerGroup& group) { return group.hosts > 1 || is_multislice(group); });
}

std::vector<ObjectKey> service_keys(const RayClusterSpec& spec) {
  std::vector<ObjectKey> out{{spec.key.namespace_name, head_service_name(spec)}};
  if (needs_headless_service(spec)) out.push_back({spec.key.namespace_name, ray_headless_service(spec.key.name)});
  if (spec.serve_service) out.push_back({spec.key.namespace_name, serve_service_name(spec)});
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
  if (spec.serve_service) {
    out.push_back(decide_service(spec, seen, build_serve_service(spec)));
    out.back().connects_pods = false;
  }
  return out;
}

bool pods_can_connect(const std::vector<Service>& services) {
  return std::ranges::all_of(services, [](const Service& service) {
    return !service.connects_pods || service.decision.kind != plan::ChildDecision::Kind::kConflict;
  });
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
    return {std::string(pods_can_connect(services) ? kServeServiceConflict : kServiceConflict), std::move(conflicts)};
  }
  if (last_failure && last_failure->reason == kFailedService) return {last_failure->reason, last_failure->message};
  std::string pending;
  for (const Service& service : services) {
    const std::string_view progress = progress_of(service);
    if (progress.empty()) continue;
    pending += fmt::format("{}service {} {}", pending.empty() ? "" : "; ", service.desired.name(), progress);
  }
  return pending.empty() ? Problem{} : Problem{"ServicesPending", std::move(pending)};
}

}  // namespace tpuslice::raycluster
