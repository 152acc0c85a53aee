#include "controllers/plan/service.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/drift.h"

namespace tpuslice::plan {
namespace {

using Kind = ChildDecision::Kind;

bool publishes_not_ready(const Json& service) {
  const Json* value = find_path(service, {"spec", "publishNotReadyAddresses"});
  return value != nullptr && *value == true;
}

/// A merge patch keeps keys that it does not name.
Json restore_selector(const StringMap& desired, const StringMap& live) {
  if (live == desired) return {};
  Json patch = desired;
  for (const auto& [key, value] : live) {
    if (!desired.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

bool has_port(const ServiceView& live, const Json& port) {
  return std::ranges::any_of(live.ports, [&](const ServicePort& found) {
    return found.name == string_at(port, {"name"}) && found.protocol == string_at(port, {"protocol"}) &&
           found.port == int_at(port, {"port"}) && found.target == std::to_string(int_at(port, {"targetPort"}));
  });
}

Json restore_headless(const Json& desired, const ServiceView& live) {
  Json patch;
  const Json& ports = array_at(desired, {"spec", "ports"});
  const bool equal = live.ports.size() == ports.size() &&
                     std::ranges::all_of(ports, [&](const Json& port) { return has_port(live, port); });
  if (!ports.empty() && !equal) patch["spec"]["ports"] = ports;
  if (Json selector = restore_selector(string_map_at(desired, {"spec", "selector"}), live.selector);
      !selector.is_null()) {
    patch["spec"]["selector"] = std::move(selector);
  }
  if (publishes_not_ready(desired) != live.publishes_not_ready) {
    patch["spec"]["publishNotReadyAddresses"] = publishes_not_ready(desired);
  }
  return patch;
}

/// Why a service of another owner does not give the pods their names; empty if it does.
std::string mismatch(const Json& desired, const ServiceView& live) {
  if (!live.headless) return "is not headless (spec.clusterIP: None)";
  if (publishes_not_ready(desired) && !live.publishes_not_ready) {
    return "does not publish addresses that are not ready (spec.publishNotReadyAddresses)";
  }
  const StringMap selector = string_map_at(desired, {"spec", "selector"});
  if (live.selector == selector) return {};
  return fmt::format("its selector is not {}", Json(selector).dump());
}

/// A zero value, which the API server omits or replaces by a default.
bool is_zero(const Json& value) {
  return value == false || value == "" || value == 0 || (value.is_structured() && value.empty());
}

/// Typed clients in Go write targetPort: 0 if it is absent.
Json without_zeros(const Json& port) {
  Json out = Json::object();
  for (const auto& [member, value] : port.items()) {
    if (!is_zero(value)) out[member] = value;
  }
  return out;
}

/// The API server may reorder ports.
bool has_ports(const Json& live, const Json& desired) {
  if (!live.is_array()) return desired.empty();
  return live.size() == desired.size() && std::ranges::all_of(desired, [&](const Json& port) {
           const Json wanted = without_zeros(port);
           return std::ranges::any_of(live, [&](const Json& candidate) { return has_all(candidate, wanted); });
         });
}

/// Keeps allocated node ports, since clients outside the cluster use them.
Json keep_node_ports(Json desired, const Json& live) {
  if (!live.is_array()) return desired;
  for (Json& port : desired) {
    const auto found = std::ranges::find_if(
        live, [&](const Json& candidate) { return string_at(candidate, {"name"}) == string_at(port, {"name"}); });
    if (found != live.end() && found->contains("nodePort") && !port.contains("nodePort")) {
      port["nodePort"] = (*found)["nodePort"];
    }
  }
  return desired;
}

Json restore_service(const Json& desired, const Json& live) {
  Json patch;
  if (Json selector =
          restore_selector(string_map_at(desired, {"spec", "selector"}), string_map_at(live, {"spec", "selector"}));
      !selector.is_null()) {
    patch["spec"]["selector"] = std::move(selector);
  }
  const Json ports = array_at(desired, {"spec", "ports"});
  const Json* found = find_path(live, {"spec", "ports"});
  const Json live_ports = found == nullptr ? Json() : *found;
  if (!has_ports(live_ports, ports)) patch["spec"]["ports"] = keep_node_ports(ports, live_ports);
  const Json labels = string_map_at(desired, {"metadata", "labels"});
  if (Json missing = restore_patch(labels, string_map_at(live, {"metadata", "labels"})); !missing.is_null()) {
    patch["metadata"]["labels"] = std::move(missing);
  }
  return patch;
}

/// Cluster IPs, IP families and the class of a load balancer are immutable.
constexpr auto kMutableMembers = std::to_array<std::string_view>(
    {"externalIPs", "externalTrafficPolicy", "internalTrafficPolicy", "loadBalancerSourceRanges",
     "publishNotReadyAddresses", "sessionAffinity", "sessionAffinityConfig", "type"});

Json restore_described_service(const Json& desired, const Json& live) {
  Json patch = restore_service(desired, live);
  for (const std::string_view member : kMutableMembers) {
    const Json* value = find_set(desired, {"spec", member});
    if (value == nullptr) continue;
    const Json* found = find_set(live, {"spec", member});
    if (found == nullptr && is_zero(*value)) continue;
    if (Json change = restore_patch(*value, found == nullptr ? Json() : *found); !change.is_null()) {
      patch["spec"][std::string(member)] = std::move(change);
    }
  }
  const Json annotations = string_map_at(desired, {"metadata", "annotations"});
  if (Json missing = restore_patch(annotations, string_map_at(live, {"metadata", "annotations"})); !missing.is_null()) {
    patch["metadata"]["annotations"] = std::move(missing);
  }
  return patch;
}

ChildDecision patch_or_none(Json patch) {
  return patch.is_null() ? ChildDecision{} : ChildDecision{Kind::kPatch, std::move(patch)};
}

}  // namespace

std::vector<ObjectKey> workloads_of(const ServiceView& service, std::string_view kind, std::string_view label) {
  std::vector<ObjectKey> keys;
  const auto add = [&](const std::string& name) { keys.push_back({service.key.namespace_name, name}); };
  if (const auto name = service.selector.find(label); name != service.selector.end()) add(name->second);
  if (service.controller && service.controller->kind == kind) add(service.controller->name);
  return keys;
}

ChildDecision decide_headless_service(const Json& desired, const ServiceView* live) {
  if (live == nullptr) return {Kind::kCreate};
  if (live->deletion) return {Kind::kWait};
  switch (ownership(desired, live->controller)) {
    case Ownership::kOwned:
      if (live->headless) return patch_or_none(restore_headless(desired, *live));
      // The API server does not change a cluster IP.
      return {Kind::kConflict, {}, fmt::format("service {} {}", live->key.to_string(), mismatch(desired, *live))};
    case Ownership::kEarlierOwner:
      return {Kind::kWait};
    case Ownership::kOther:
      break;
  }
  const std::string reason = mismatch(desired, *live);
  if (reason.empty()) return {};
  return {Kind::kConflict, {}, fmt::format("{} and {}", describe_owner(desired, live->controller), reason)};
}

ChildDecision decide_service(const Json& desired, const ObjectView* live) {
  return decide_by_owner(desired, live, [&](const Json& found) { return restore_service(desired, found); });
}

ChildDecision decide_described_service(const Json& desired, const ObjectView* live) {
  return decide_by_owner(desired, live, [&](const Json& found) { return restore_described_service(desired, found); });
}

}  // namespace tpuslice::plan
