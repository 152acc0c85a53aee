#include <set>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/formats.h"

namespace tpuslice::sim {
namespace {

void check_ports(Problems& problems, const FieldPath& path, const Json& ports) {
  std::set<std::string> names;
  std::set<std::string> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldPath at = path.item(i);
    const Json& port = ports[i];
    const std::string name = string_at(port, {"name"});
    if (name.empty() && ports.size() > 1) problems.required(at.member("name"));
    if (!name.empty()) {
      check_name(problems, at.member("name"), name, check_dns1123_label(name));
      if (!names.insert(name).second) problems.duplicate(at.member("name"), name);
    }
    check_port(problems, at.member("port"), port.at("port"), false);
    check_choice(problems, at, port, "protocol", {"SCTP", "TCP", "UDP"});
    if (const auto target = port.find("targetPort"); target != port.end()) {
      check_port(problems, at.member("targetPort"), *target, true);
    }
    const std::string protocol = string_at(port, {"protocol"}, "TCP");
    if (!numbers.insert(protocol + "/" + port["port"].dump()).second) {
      problems.duplicate(at, Json({{"port", port["port"]}, {"protocol", protocol}}));
    }
  }
}

void check_address(Problems& problems, const Json& spec, const Json* old) {
  const std::string address = string_at(spec, {"clusterIP"});
  const FieldPath spec_path("spec");
  const FieldPath list = spec_path.member("clusterIPs");
  if (!address.empty() && address != "None" && !matches_format("ipv4", address) && !matches_format("ipv6", address)) {
    problems.invalid(list.item(0), address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  }
  if (old == nullptr) return;
  const std::string before = string_at(*old, {"spec", "clusterIP"});
  const bool was_external = string_at(*old, {"spec", "type"}) == "ExternalName";
  const bool is_external = string_at(spec, {"type"}) == "ExternalName";
  if (!before.empty() && !was_external && !is_external && !address.empty() && address != before) {
    problems.invalid(list.item(0), Json::array({address}), "may not change once set");
  }
}

}  // namespace

void check_service(Problems& problems, const Json& service, const Json* old) {
  const FieldPath path("spec");
  const Json& spec = map_at(service, "spec");
  const std::string type = string_at(spec, {"type"}, "ClusterIP");
  check_choice(problems, path, spec, "type", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  check_choice(problems, path, spec, "sessionAffinity", {"ClientIP", "None"});
  check_choice(problems, path, spec, "ipFamilyPolicy", {"SingleStack", "PreferDualStack", "RequireDualStack"});
  const Json& ports = list_at(spec, "ports");
  if (type == "ExternalName") {
    const std::string name = string_at(spec, {"externalName"});
    if (name.empty()) problems.required(path.member("externalName"));
    if (!name.empty()) check_name(problems, path.member("externalName"), name, check_dns1123_subdomain(name));
    if (string_at(spec, {"clusterIP"}) == "None") {
      problems.invalid(path.member("clusterIP"), "None", "may not be set to 'None' for ExternalName services");
    }
  } else if (ports.empty() && string_at(spec, {"clusterIP"}) != "None") {
    problems.required(path.member("ports"));
  }
  check_ports(problems, path.member("ports"), ports);
  check_address(problems, spec, old);
  const FieldPath selector = path.member("selector");
  for (const auto& [key, value] : map_at(spec, "selector").items()) {
    check_name(problems, selector, key, check_label_key(key));
    check_name(problems, selector, value.get<std::string>(), check_label_value(value.get<std::string>()));
  }
}

}  // namespace tpuslice::sim
