#include "tpu/worker_env.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::tpu {
namespace {

constexpr std::string_view kLocalhost = "localhost";
constexpr std::string_view kMetricsPort = "2112";  // Of the device plugin, on the node.

/// The position of the last entry of that name, which is the one a container sees; the size of `env` without one.
std::size_t position_of(const Json& env, std::string_view name) {
  if (!env.is_array()) return env.size();
  for (std::size_t at = env.size(); at > 0; --at) {
    if (string_at(env[at - 1], {"name"}) == name) return at - 1;
  }
  return env.size();
}

const Json* find_env(const Json& env, std::string_view name) {
  const std::size_t at = position_of(env, name);
  return at == env.size() ? nullptr : &env[at];
}

/// The literal value of a variable; nothing where it is absent or comes from elsewhere.
std::optional<std::string> literal(const Json& env, std::string_view name) {
  const Json* entry = find_env(env, name);
  if (entry == nullptr || find_path(*entry, {"valueFrom"}) != nullptr) return std::nullopt;
  return string_at(*entry, {"value"});
}

bool all_localhost(std::string_view addresses) {
  while (true) {
    const std::size_t comma = addresses.find(',');
    if (!addresses.substr(0, comma).starts_with("localhost:")) return false;
    if (comma == std::string_view::npos) return true;
    addresses.remove_prefix(comma + 1);
  }
}

bool has_platform_defaults(const Json& env) {
  return literal(env, "TPU_WORKER_HOSTNAMES") == kLocalhost ||
         all_localhost(literal(env, "TPU_PROCESS_ADDRESSES").value_or(""));
}

/// True if the platform, not the user, gave the variable its value.
bool is_platform_default(const Json& env, std::string_view name, std::size_t container) {
  const auto value = literal(env, name);
  if (!value) return false;
  if (name == "TPU_WORKER_HOSTNAMES") return *value == kLocalhost;
  if (name == "TPU_PROCESS_ADDRESSES") return all_localhost(*value);
  // Also without other defaults beside it: our own localhost addresses must not change the answer of a second look.
  if (name == "TPU_PROCESS_PORT") return *value == std::to_string(kProcessPort);
  if (name == "TPU_WORKER_ID") return has_platform_defaults(env) && *value == std::to_string(container);
  return false;
}

/// Names in `$(NAME)` references of a value; "$$(" is an escape.
std::vector<std::string> references(std::string_view value) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at + 1 < value.size(); ++at) {
    if (value[at] != '$') continue;
    if (value[at + 1] == '(') {
      const std::size_t end = value.find(')', at);
      if (end == std::string_view::npos) break;
      names.emplace_back(value.substr(at + 2, end - at - 2));
    }
    ++at;
  }
  return names;
}

/// One address per process of the slice, by worker id. A slice of one host talks to itself.
std::string process_addresses(const SliceIdentity& identity, const std::vector<int>& ports) {
  std::vector<std::string> addresses;
  addresses.reserve(static_cast<std::size_t>(identity.hosts) * ports.size());
  for (int host = 0; host < identity.hosts; ++host) {
    const std::string name = identity.multi_host() ? identity.address(host) : std::string(kLocalhost);
    for (const int port : ports) addresses.push_back(fmt::format("{}:{}", name, port));
  }
  return fmt::format("{}", fmt::join(addresses, ","));
}

std::string worker_hostnames(const SliceIdentity& identity) {
  // All begin alike, unless the group's name has to be cut: then by how much depends on the digits of the host.
  const std::string last = identity.hostname(identity.hosts - 1);
  std::string prefix = identity.hostname(0);
  prefix.pop_back();
  const bool alike = last == prefix + std::to_string(identity.hosts - 1);
  std::string names;
  names.reserve(static_cast<std::size_t>(identity.hosts) * (last.size() + identity.subdomain.size() + 2));
  for (int host = 0; host < identity.hosts; ++host) {
    if (host > 0) names += ',';
    names += alike ? prefix + std::to_string(host) : identity.hostname(host);
    names += '.';
    names += identity.subdomain;
  }
  return names;
}

/// The slices of one job are the replicas of one group; the first host of the first of them coordinates.
void append_megascale(const SliceIdentity& identity, std::size_t container, std::vector<EnvVar>& env) {
  SliceIdentity first = identity;
  first.replica_index = 0;
  const bool split = identity.accelerator->splits_hosts();
  const std::string coordinator = split ? fmt::format("{}:{}", first.address(0), kMegascalePort) : first.address(0);
  const int port = kMegascalePort + (split ? static_cast<int>(container) : 0);
  env.push_back({"MEGASCALE_SLICE_ID", std::to_string(identity.replica_index), {}});
  env.push_back({"MEGASCALE_COORDINATOR_ADDRESS", coordinator, {}});
  env.push_back({"MEGASCALE_PORT", std::to_string(port), {}});
}

}  // namespace

Json EnvVar::to_json() const {
  if (field_path.empty()) return {{"name", name}, {"value", value}};
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", field_path}}}}}};
}

std::vector<int> process_ports(const SliceIdentity& identity, const Json& pod_containers) {
  std::vector<int> ports;
  if (!identity.accelerator->splits_hosts()) return ports;
  for (std::size_t index = 0; index < identity.containers.size(); ++index) {
    int port = kProcessPort + static_cast<int>(index);
    const Json* env = find_path(pod_containers, {std::to_string(identity.containers[index].position), "env"});
    if (env != nullptr && !is_platform_default(*env, "TPU_PROCESS_PORT", index)) {
      const std::string declared = literal(*env, "TPU_PROCESS_PORT").value_or("");
      int value = 0;
      const auto [end, error] = std::from_chars(declared.data(), declared.data() + declared.size(), value);
      if (error == std::errc() && end == declared.data() + declared.size() && value > 0) port = value;
    }
    ports.push_back(port);
  }
  return ports;
}

std::vector<EnvVar> worker_env(const SliceIdentity& identity, std::size_t container, const std::vector<int>& ports,
                               bool multislice) {
  std::vector<EnvVar> env;
  env.push_back({"TPU_WORKER_ID", std::to_string(identity.worker_id(container)), {}});
  if (identity.multi_host()) env.push_back({"TPU_WORKER_HOSTNAMES", worker_hostnames(identity), {}});
  env.push_back({"TPU_NAME", identity.slice_name, {}});
  if (!ports.empty()) {
    env.push_back({"TPU_PROCESS_ADDRESSES", process_addresses(identity, ports), {}});
    env.push_back({"TPU_PROCESS_PORT", std::to_string(ports.at(container)), {}});
  }
  env.push_back({"TPU_DEVICE_PLUGIN_HOST_IP", {}, "status.hostIP"});
  env.push_back({"TPU_DEVICE_PLUGIN_ADDR", fmt::format("$(TPU_DEVICE_PLUGIN_HOST_IP):{}", kMetricsPort), {}});
  if (multislice) append_megascale(identity, container, env);
  return env;
}

bool declares_multislice(const Json& env) {
  const Json* entry = find_env(env, "MEGASCALE_NUM_SLICES");
  if (entry == nullptr) return false;
  return find_path(*entry, {"valueFrom"}) != nullptr || !string_at(*entry, {"value"}).empty();
}

Json join_env(Json env, const std::vector<EnvVar>& wanted, std::size_t container) {
  if (!env.is_array()) env = Json::array();
  Json joined = Json::array();
  Json back = Json::array();
  std::vector<std::pair<std::size_t, Json>> replaced;
  for (const EnvVar& variable : wanted) {
    const std::size_t at = position_of(env, variable.name);
    if (at == env.size()) {
      const auto names = references(variable.value);
      const bool after_user = std::any_of(names.begin(), names.end(),
                                          [&](const std::string& name) { return find_env(env, name) != nullptr; });
      (after_user ? back : joined).push_back(variable.to_json());
    } else if (is_platform_default(env, variable.name, container)) {
      // Not put in place before all are judged: the defaults vouch for each other.
      replaced.emplace_back(at, variable.to_json());
    }
  }
  for (auto& [at, variable] : replaced) env[at] = std::move(variable);
  for (Json& variable : env) joined.push_back(std::move(variable));
  for (Json& variable : back) joined.push_back(std::move(variable));
  return joined;
}

}  // namespace tpuslice::tpu
