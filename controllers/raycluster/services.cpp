#include "controllers/raycluster/services.h"

#include <algorithm>
#include <utility>

#include "controllers/raycluster/labels.h"
#include "controllers/raycluster/names.h"
#include "tpu/labels.h"
#include "tpu/naming.h"
#include "tpu/worker_env.h"

namespace tpuslice::raycluster {
namespace {

using runtime::Action;

Json object_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_object() ? *found : Json::object();
}

Json service_metadata(const RayClusterSpec& spec, std::string name) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

// Those the head container declares, else Ray's own; the metrics port always. Sorted by name.
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

// What selects the head pod. Where its template overrides one of these labels, so does the selector.
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

// headService is a template: ports the user did not declare are appended, the selector is ours.
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

// True if `live` says all that `wanted` says; a server adds defaults.
bool covers(const Json& live, const Json& wanted) {
  if (!wanted.is_object()) return live == wanted;
  return live.is_object() && std::ranges::all_of(wanted.items(), [&](const auto& member) {
           const auto found = live.find(member.key());
           return found != live.end() && covers(*found, member.value());
         });
}

bool same_ports(const Json& live, const Json& wanted) {
  if (!live.is_array() || live.size() != wanted.size()) return live.is_null() && wanted.empty();
  return std::ranges::all_of(wanted, [&](const Json& port) {
    return std::ranges::any_of(live, [&](const Json& candidate) { return covers(candidate, port); });
  });
}

// Node ports already handed out stay: clients outside the cluster know them.
Json with_node_ports(Json wanted, const Json& live) {
  if (!live.is_array()) return wanted;
  for (Json& port : wanted) {
    const auto found = std::ranges::find_if(
        live, [&](const Json& candidate) { return string_at(candidate, {"name"}) == string_at(port, {"name"}); });
    if (found != live.end() && found->contains("nodePort") && !port.contains("nodePort")) {
      port["nodePort"] = (*found)["nodePort"];
    }
  }
  return wanted;
}

// The merge patch that restores what is ours; null if nothing drifted.
Json repair(const Json& live, const Json& wanted) {
  Json patch = Json::object();
  const Json live_selector = object_at(live, {"spec", "selector"});
  const Json& selector = wanted["spec"]["selector"];
  if (live_selector != selector) {
    Json changed = selector;
    for (const auto& [key, value] : live_selector.items()) {
      if (!selector.contains(key)) changed[key] = nullptr;
    }
    patch["spec"]["selector"] = std::move(changed);
  }
  const Json ports = wanted["spec"].value("ports", Json::array());
  const Json* found = find_path(live, {"spec", "ports"});
  const Json live_ports = found == nullptr ? Json() : *found;
  if (!same_ports(live_ports, ports)) patch["spec"]["ports"] = with_node_ports(ports, live_ports);
  if (!covers(object_at(live, {"metadata", "labels"}), wanted["metadata"]["labels"])) {
    patch["metadata"]["labels"] = wanted["metadata"]["labels"];
  }
  return patch.empty() ? Json() : patch;
}

std::string foreign(const RayClusterSpec& spec, const ObjectView& service) {
  const std::string owner = service.controller
                                ? fmt::format("belongs to {} {}", service.controller->kind, service.controller->name)
                                : std::string("has no controller");
  const std::string remedy = service.key.name == head_service_name(spec)
                                 ? "set spec.headGroupSpec.headService.metadata.name to another name, or delete it"
                                 : "rename the RayCluster, or delete it";
  return fmt::format("service {} {}, but RayCluster {} (uid {}) needs that name: {}", service.key.to_string(), owner,
                     spec.key.to_string(), spec.uid, remedy);
}

void plan_service(const RayClusterSpec& spec, const RayClusterObserved& seen, Object wanted, ServiceChanges& out) {
  const ObjectKey key = wanted.key();
  const auto live = std::ranges::find_if(seen.services, [&](const auto& service) { return service->key == key; });
  if (live == seen.services.end()) {
    Action action = Action::create(kServices, std::move(wanted));
    action.failure_reason = kFailedService;
    out.changes.services.push_back(std::move(action));
    out.changes.reasons.push_back(fmt::format("service {} is missing: creating it", key.name));
    out.changes.events.push_back({runtime::EventType::kNormal, "CreatedService", "CreateService",
                                  fmt::format("Created service {}", key.to_string()), key});
    out.changes.events.push_back({runtime::EventType::kWarning, "FailedToCreateService", "CreateService",
                                  fmt::format("Failed to create service {}", key.to_string()), key});
    return;
  }
  const ObjectView& view = **live;
  if (!view.controller || view.controller->uid != spec.uid) {
    if (!out.conflict.empty()) out.conflict += "; ";
    out.conflict += foreign(spec, view);
    return;
  }
  if (view.deletion) return;  // recreated once it is gone
  Json patch = repair(view.object.json(), wanted.json());
  if (patch.is_null()) return;
  Action action = Action::patch(kServices, key, std::move(patch), {view.uid, {}});
  action.failure_reason = kFailedService;
  out.changes.services.push_back(std::move(action));
  out.changes.reasons.push_back(fmt::format("service {} drifted: restoring its ports, selector and labels", key.name));
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
  set_label(labels, tpu::kRayCluster, spec.key.name);  // upstream lacks it; our watch selects by it
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

ServiceChanges plan_services(const RayClusterSpec& spec, const RayClusterObserved& seen, const Options& options) {
  ServiceChanges out;
  plan_service(spec, seen, build_head_service(spec, options), out);
  if (needs_headless_service(spec)) plan_service(spec, seen, build_headless_service(spec), out);
  return out;
}

}  // namespace tpuslice::raycluster
