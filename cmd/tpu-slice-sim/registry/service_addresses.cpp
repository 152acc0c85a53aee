#include "cmd/tpu-slice-sim/registry/service_addresses.h"

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/resources/api_errors.h"

namespace tpuslice::sim {
namespace {

constexpr int kFirstPort = 30000;
constexpr int kLastPort = 32767;

struct Taken {
  std::set<std::string> addresses;
  std::set<int> ports;
};

Taken taken_by_others(const Json& service, const Storage& storage) {
  Taken taken;
  const std::string uid = string_at(service, {"metadata", "uid"});
  for (const JsonPtr& other : storage.list("services")) {
    if (string_at(*other, {"metadata", "uid"}) == uid) continue;
    taken.addresses.insert(string_at(*other, {"spec", "clusterIP"}));
    const Json* ports = find_path(*other, {"spec", "ports"});
    if (ports == nullptr || !ports->is_array()) continue;
    for (const Json& port : *ports) {
      if (const Json* node = find_path(port, {"nodePort"}); node != nullptr && node->is_number_integer()) {
        taken.ports.insert(node->get<int>());
      }
    }
  }
  return taken;
}

Error refused(const Resource& resource, const Json& service, const std::string& path, const std::string& message) {
  FieldProblem problem;
  problem.path = path;
  problem.message = message;
  problem.reason = "FieldValueInvalid";
  return invalid(resource, string_at(service, {"metadata", "name"}), {problem});
}

bool in_range(const std::string& address) {
  unsigned a = 0;
  unsigned b = 0;
  char rest = 0;
  return std::sscanf(address.c_str(), "10.96.%3u.%3u%c", &a, &b, &rest) == 2 && a <= 255 && b <= 255;
}

/// 10.96.0.1 is reserved for the API server.
Result<std::string> free_address(const Resource& resource, const Json& service, const Taken& taken) {
  for (unsigned n = 2; n < 0xffffU; ++n) {
    std::string address = fmt::format("10.96.{}.{}", n >> 8U, n & 0xffU);
    if (!taken.addresses.contains(address)) return address;
  }
  return refused(resource, service, "spec.clusterIPs", "Internal error: failed to allocate IP: range is full");
}

Status assign_cluster_ip(const Resource& resource, Json& service, const Taken& taken) {
  Json& spec = service["spec"];
  std::string address = string_at(spec, {"clusterIP"});
  if (address.empty()) address = string_at(spec, {"clusterIPs", "0"});
  if (address.empty()) {
    ASSIGN_OR_RETURN(address, free_address(resource, service, taken));
  } else if (address != "None" && !in_range(address)) {
    return refused(resource, service, "spec.clusterIPs",
                   fmt::format("Invalid value: [\"{}\"]: failed to allocate IP {}: the provided IP is not in the valid "
                               "range. The range of valid IPs is 10.96.0.0/16",
                               address, address));
  } else if (address != "None" && taken.addresses.contains(address)) {
    return refused(resource, service, "spec.clusterIPs",
                   fmt::format("Invalid value: [\"{}\"]: failed to allocate IP {}: provided IP is already allocated",
                               address, address));
  }
  spec["clusterIP"] = address;
  spec["clusterIPs"] = Json::array({address});
  if (!spec.contains("ipFamilies")) spec["ipFamilies"] = Json::array({"IPv4"});
  if (!spec.contains("ipFamilyPolicy")) spec["ipFamilyPolicy"] = "SingleStack";
  return {};
}

Status assign_node_ports(const Resource& resource, Json& service, Taken& taken) {
  Json& ports = service["spec"]["ports"];
  if (!ports.is_array()) return {};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Json* asked = find_path(ports[i], {"nodePort"});
    int port = asked != nullptr && asked->is_number_integer() ? asked->get<int>() : 0;
    const std::string path = fmt::format("spec.ports[{}].nodePort", i);
    if (port == 0) {
      port = kFirstPort;
      while (port <= kLastPort && taken.ports.contains(port)) ++port;
    }
    if (port < kFirstPort || port > kLastPort) {
      return refused(resource, service, path,
                     fmt::format("Invalid value: {}: provided port is not in the valid range. The range of valid ports "
                                 "is 30000-32767",
                                 port));
    }
    if (!taken.ports.insert(port).second) {
      return refused(resource, service, path,
                     fmt::format("Invalid value: {}: provided port is already allocated", port));
    }
    ports[i]["nodePort"] = port;
  }
  return {};
}

}  // namespace

Status assign_addresses(const Resource& resource, Json& service, const Storage& storage) {
  const std::string type = string_at(service, {"spec", "type"}, "ClusterIP");
  if (type == "ExternalName") return {};
  // An explicit address is kept; validation refuses a change.
  const JsonPtr old = storage.get(
      resource.id(), {string_at(service, {"metadata", "namespace"}), string_at(service, {"metadata", "name"})});
  if (old != nullptr && string_at(*old, {"spec", "type"}) != "ExternalName") {
    const std::string before = string_at(*old, {"spec", "clusterIP"});
    const std::string after = string_at(service, {"spec", "clusterIP"});
    if (!before.empty() && !after.empty() && before != after) return {};
  }
  Taken taken = taken_by_others(service, storage);
  RETURN_IF_ERROR(assign_cluster_ip(resource, service, taken));
  if (type == "NodePort" || type == "LoadBalancer") return assign_node_ports(resource, service, taken);
  return {};
}

void restore_addresses(Json& service, const Json& asked) {
  Json& spec = service["spec"];
  for (const char* field : {"clusterIP", "clusterIPs"}) {
    const Json* value = find_path(asked, {"spec", field});
    if (value == nullptr) {
      spec.erase(field);
    } else {
      spec[field] = *value;
    }
  }
  if (!spec.contains("ports") || !spec["ports"].is_array()) return;
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
    if (find_path(asked, {"spec", "ports", std::to_string(i), "nodePort"}) == nullptr)
      spec["ports"][i].erase("nodePort");
  }
}

void keep_addresses(Json& service, const Json& old) {
  const Json* had = find_path(old, {"spec"});
  if (had == nullptr || string_at(service, {"spec", "type"}) == "ExternalName") return;
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (!service["spec"].contains(field) && had->contains(field)) service["spec"][field] = had->at(field);
  }
}

}  // namespace tpuslice::sim
