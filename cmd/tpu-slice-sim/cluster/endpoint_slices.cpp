#include "cmd/tpu-slice-sim/cluster/endpoint_slices.h"

#include <algorithm>

#include <fmt/core.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/hashing.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/requirements.h"

namespace tpuslice::sim {

namespace {

constexpr std::string_view kEndpointController = "endpointslice-controller";

bool selected(const Json& selector, const Json& pod) {
  const StringMap labels = string_map(find_path(pod, {"metadata", "labels"}));
  for (const auto& [key, value] : selector.items()) {
    const auto found = labels.find(key);
    if (found == labels.end() || value != Json(found->second)) return false;
  }
  return true;
}

/// The fields of a pod that its endpoints depend on.
Json essence(const Json* pod) {
  if (pod == nullptr) return nullptr;
  return Json::array({string_at(*pod, {"status", "podIP"}), condition_status(*pod, "Ready"),
                      string_at(*pod, {"status", "phase"}), string_at(*pod, {"metadata", "deletionTimestamp"}),
                      pod->at("metadata").value("labels", Json())});
}

struct Backend {
  const Json* pod = nullptr;
  bool ready = false;
  bool terminating = false;
};

Json target_ref(const Json& pod) {
  return {{"kind", "Pod"},
          {"name", string_at(pod, {"metadata", "name"})},
          {"namespace", string_at(pod, {"metadata", "namespace"})},
          {"uid", string_at(pod, {"metadata", "uid"})}};
}

/// The hostname of a pod whose subdomain is this service.
std::string hostname(const Json& pod, const std::string& service) {
  return string_at(pod, {"spec", "subdomain"}) == service ? string_at(pod, {"spec", "hostname"}) : std::string();
}

Json ports_of(const Json& service) {
  Json out = Json::array();
  const Json* ports = find_path(service, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array()) return out;
  for (const Json& port : *ports) {
    Json entry = {{"protocol", string_at(port, {"protocol"}, "TCP")}};
    const Json* target = find_path(port, {"targetPort"});
    entry["port"] = target != nullptr && target->is_number_integer() ? *target : port.value("port", Json(0));
    for (const char* field : {"name", "appProtocol"}) {
      if (port.contains(field)) entry[field] = port.at(field);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

Json slice_endpoints(const Json& service, const std::vector<Backend>& backends) {
  Json out = Json::array();
  for (const Backend& backend : backends) {
    Json entry = {{"addresses", Json::array({string_at(*backend.pod, {"status", "podIP"})})},
                  {"conditions",
                   {{"ready", backend.ready && !backend.terminating},
                    {"serving", backend.ready},
                    {"terminating", backend.terminating}}},
                  {"nodeName", string_at(*backend.pod, {"spec", "nodeName"})},
                  {"targetRef", target_ref(*backend.pod)}};
    const std::string host = hostname(*backend.pod, string_at(service, {"metadata", "name"}));
    if (!host.empty()) entry["hostname"] = host;
    out.push_back(std::move(entry));
  }
  return out;
}

Json owner_reference(const Json& service) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"name", string_at(service, {"metadata", "name"})},
          {"uid", string_at(service, {"metadata", "uid"})},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

}  // namespace

EndpointSlices::EndpointSlices(Registry& registry)
    : registry_(registry), feed_(registry.storage(), std::vector<std::string>{"pods", "services"}) {}

bool EndpointSlices::step() {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    selectors_.clear();
    dirty_.clear();
  }
  for (const Change& change : batch.changes) observe(change);
  bool wrote = false;
  for (const ObjectKey& key : std::exchange(dirty_, {})) wrote |= sync(key);
  return wrote;
}

void EndpointSlices::observe(const Change& change) {
  if (change.resource == "services") {
    dirty_.insert(change.key);
    selectors_.erase(change.key);
    if (change.type == ChangeType::kDeleted) return;
    const Json* selector = find_path(*change.object, {"spec", "selector"});
    if (selector != nullptr && selector->is_object() && !selector->empty()) selectors_[change.key] = *selector;
    return;
  }
  if (change.type == ChangeType::kModified && essence(change.object.get()) == essence(change.previous.get())) return;
  const auto first = selectors_.lower_bound({change.key.namespace_name, ""});
  for (auto it = first; it != selectors_.end() && it->first.namespace_name == change.key.namespace_name; ++it) {
    const bool was = change.previous != nullptr && selected(it->second, *change.previous);
    if (was || selected(it->second, *change.object)) dirty_.insert(it->first);
  }
}

bool EndpointSlices::sync(const ObjectKey& key) {
  const JsonPtr service = registry_.storage().get("services", key);
  const auto selector = selectors_.find(key);
  if (service == nullptr || selector == selectors_.end()) return false;
  const Json* publish = find_path(*service, {"spec", "publishNotReadyAddresses"});
  const bool publish_all = publish != nullptr && *publish == Json(true);
  std::vector<Backend> backends;
  const std::vector<JsonPtr> pods = registry_.storage().list("pods", key.namespace_name);
  for (const JsonPtr& pod : pods) {
    if (!selected(selector->second, *pod) || string_at(*pod, {"status", "podIP"}).empty()) continue;
    const std::string phase = string_at(*pod, {"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") continue;
    backends.push_back({pod.get(), publish_all || condition_status(*pod, "Ready") == "True",
                        find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr && !publish_all});
  }
  const std::string suffix = fmt::format("{:05x}", hash_of({key.to_string()}) & 0xfffffU);
  const ObjectKey slice{key.namespace_name, key.name + "-" + suffix};
  return write(slice, {{"apiVersion", "discovery.k8s.io/v1"},
                       {"kind", "EndpointSlice"},
                       {"metadata",
                        {{"name", slice.name},
                         {"namespace", slice.namespace_name},
                         {"labels", {{"kubernetes.io/service-name", key.name}}},
                         {"ownerReferences", Json::array({owner_reference(*service)})}}},
                       {"addressType", "IPv4"},
                       {"endpoints", slice_endpoints(*service, backends)},
                       {"ports", ports_of(*service)}});
}

bool EndpointSlices::write(const ObjectKey& key, Json wanted) {
  const ResourcePtr resource = registry_.resources().find_id("endpointslices.discovery.k8s.io");
  const JsonPtr existing = registry_.storage().get(resource->id(), key);
  if (existing == nullptr)
    return registry_.create(*resource, Object(std::move(wanted)), as_controller(kEndpointController)).ok();
  const std::vector<const char*> fields{"endpoints", "ports"};
  const bool same = std::all_of(fields.begin(), fields.end(), [&](const char* field) {
    return existing->value(field, Json::array()) == wanted.value(field, Json::array());
  });
  if (same) return false;
  return registry_
      .modify(
          *resource, key, {},
          [&](Json& json) -> Status {
            for (const char* field : fields) {
              if (wanted.contains(field)) json[field] = wanted.at(field);
            }
            return {};
          },
          as_controller(kEndpointController))
      .ok();
}

}  // namespace tpuslice::sim
