// Nodes, services and events.
#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/table/age.h"
#include "cmd/tpu-slice-sim/table/builtin_columns.h"

namespace tpuslice::sim {
namespace {

std::string node_status(const Json& node) {
  std::string status = "Unknown";
  const Json* conditions = find_path(node, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (string_at((*conditions)[i], {"type"}) != "Ready") continue;
    status = string_at((*conditions)[i], {"status"}) == "True" ? "Ready" : "NotReady";
  }
  return bool_at(node, {"spec", "unschedulable"}) ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string roles;
  for (const auto& [key, value] : string_map_at(node, {"metadata", "labels"})) {
    std::string role;
    if (key.starts_with(kPrefix)) role = key.str().substr(kPrefix.size());
    if (key == "kubernetes.io/role") role = value;
    if (!role.empty()) roles += (roles.empty() ? "" : ",") + role;
  }
  return or_none(roles);
}

std::function<std::string(const Json&)> node_address(const char* type) {
  return [type](const Json& node) {
    const Json* addresses = find_path(node, {"status", "addresses"});
    for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
      if (string_at((*addresses)[i], {"type"}) == type) return string_at((*addresses)[i], {"address"});
    }
    return std::string("<none>");
  };
}

Column node_info(const char* name, const char* field, int priority, const char* fallback) {
  return text_column(
      name,
      [field, fallback](const Json& node) {
        return string_at(node, {"status", "nodeInfo", field}, fallback);
      },
      priority);
}

std::string service_ports(const Json& service) {
  std::vector<std::string> texts;
  const Json* ports = find_path(service, {"spec", "ports"});
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const Json& port = (*ports)[i];
    std::string text = std::to_string(int_at(port, {"port"}));
    if (const std::int64_t node = int_at(port, {"nodePort"}); node != 0) text += fmt::format(":{}", node);
    texts.push_back(text + "/" + string_at(port, {"protocol"}, "TCP"));
  }
  return or_none(fmt::format("{}", fmt::join(texts, ",")));
}

std::string external_ip(const Json& service) {
  const std::string type = string_at(service, {"spec", "type"}, "ClusterIP");
  if (type == "ExternalName") return string_at(service, {"spec", "externalName"});
  std::vector<std::string> addresses;
  const Json* listed = find_path(service, {"spec", "externalIPs"});
  for (std::size_t i = 0; listed != nullptr && i < listed->size(); ++i)
    addresses.push_back((*listed)[i].get<std::string>());
  const Json* ingress = find_path(service, {"status", "loadBalancer", "ingress"});
  for (std::size_t i = 0; type == "LoadBalancer" && ingress != nullptr && i < ingress->size(); ++i) {
    addresses.push_back(string_at((*ingress)[i], {"ip"}, string_at((*ingress)[i], {"hostname"})));
  }
  if (addresses.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return fmt::format("{}", fmt::join(addresses, ","));
}

std::string service_selector(const Json& service) {
  return or_none(LabelSelector::of(string_map_at(service, {"spec", "selector"})).to_string());
}

/// The first of these times that is set, as an age.
Column since_column(const char* name, std::vector<std::vector<std::string>> paths, int priority) {
  Column column;
  column.name = name;
  column.priority = priority;
  column.cell = [paths = std::move(paths)](const Json& event, Timestamp now) {
    for (const auto& path : paths) {
      const std::string text = path.size() == 2 ? string_at(event, {path[0], path[1]}) : string_at(event, {path[0]});
      if (const auto time = parse_rfc3339(text)) return Json(human_duration(now - *time));
    }
    return Json("<unknown>");
  };
  return column;
}

}  // namespace

std::vector<Column> node_columns() {
  return {name_column(),
          text_column("Status", node_status),
          text_column("Roles", node_roles),
          age_column(),
          node_info("Version", "kubeletVersion", 0, ""),
          text_column("Internal-IP", node_address("InternalIP"), 1),
          text_column("External-IP", node_address("ExternalIP"), 1),
          node_info("OS-Image", "osImage", 1, "<unknown>"),
          node_info("Kernel-Version", "kernelVersion", 1, "<unknown>"),
          node_info("Container-Runtime", "containerRuntimeVersion", 1, "<unknown>")};
}

std::vector<Column> service_columns() {
  return {name_column(),
          text_column("Type",
                      [](const Json& service) {
                        return string_at(service, {"spec", "type"}, "ClusterIP");
                      }),
          text_column("Cluster-IP",
                      [](const Json& service) {
                        return or_none(string_at(service, {"spec", "clusterIP"}));
                      }),
          text_column("External-IP", external_ip),
          text_column("Port(s)", service_ports),
          age_column(),
          text_column("Selector", service_selector, 1)};
}

std::vector<Column> event_columns(bool events_group) {
  const char* about = events_group ? "regarding" : "involvedObject";
  const char* message = events_group ? "note" : "message";
  const char* last = events_group ? "deprecatedLastTimestamp" : "lastTimestamp";
  const char* first = events_group ? "deprecatedFirstTimestamp" : "firstTimestamp";
  const char* count = events_group ? "deprecatedCount" : "count";
  const char* source = events_group ? "reportingController" : "reportingComponent";
  const char* old_source = events_group ? "deprecatedSource" : "source";
  const auto text = [](const char* name, const char* field) {
    return text_column(name, [field](const Json& event) { return string_at(event, {field}); });
  };
  Column counted = number_column("Count", [count](const Json& event) {
    return int_at(event, {"series", "count"}, std::max<std::int64_t>(int_at(event, {count}), 1));
  });
  counted.priority = 1;
  Column name = name_column();
  name.priority = 1;
  return {since_column("Last Seen", {{"series", "lastObservedTime"}, {last}, {"eventTime"}, {first}}, 0),
          text("Type", "type"),
          text("Reason", "reason"),
          text_column("Object",
                      [about](const Json& event) {
                        return to_lower(string_at(event, {about, "kind"})) + "/" + string_at(event, {about, "name"});
                      }),
          text_column(
              "Subobject",
              [about](const Json& event) {
                return string_at(event, {about, "fieldPath"});
              },
              1),
          text_column(
              "Source",
              [source, old_source](const Json& event) {
                return string_at(event, {old_source, "component"}, string_at(event, {source}));
              },
              1),
          text("Message", message),
          since_column("First Seen", {{first}, {"eventTime"}}, 1),
          std::move(counted),
          std::move(name)};
}

}  // namespace tpuslice::sim
