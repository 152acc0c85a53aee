#include "tpu/worker_env.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"

namespace tpuslice::tpu {
namespace {

constexpr std::string_view kLocalhost = "localhost";
constexpr std::string_view kMetricsPort = "2112";  // Port of the device plugin, on the node.
constexpr int kPlatformPort = 8471;                // What GKE's webhook for tpu7x puts first.

/// The position of the last entry of that name, which is the one a container sees; the size of `env` without one.
std::size_t position_of(const Json& env, std::string_view name) {
  if (!env.is_array()) return env.size();
  for (std::size_t at = env.size(); at > 0; --at) {
    if (is_named(env[at - 1], name)) return at - 1;
  }
  return env.size();
}

const Json* find_env(const Json& env, std::string_view name) {
  const std::size_t at = position_of(env, name);
  return at == env.size() ? nullptr : &env[at];
}

/// The literal value of a variable; nothing if it is absent or has a valueFrom.
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

/// Whether GKE, not the user, set the value.
bool is_platform_default(const Json& env, std::string_view name, std::size_t process) {
  const auto value = literal(env, name);
  if (!value) return false;
  if (name == "TPU_WORKER_HOSTNAMES") return *value == kLocalhost;
  if (name == "TPU_PROCESS_ADDRESSES") return all_localhost(*value);
  // Does not depend on has_platform_defaults(): our own localhost addresses would satisfy that in a second mutation,
  // whose result must be the same.
  if (name == "TPU_PROCESS_PORT") return *value == std::to_string(kPlatformPort);
  if (name == "TPU_WORKER_ID") return has_platform_defaults(env) && *value == std::to_string(process);
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

bool splits_hosts(const SliceIdentity& identity, const std::vector<int>& ports) {
  return identity.accelerator == nullptr ? ports.size() > 1 : identity.accelerator->splits_hosts();
}

/// Hosts are listed by name; otherwise the only host is localhost, and the device plugin sets its name.
bool lists_names(const SliceIdentity& identity) {
  return identity.multi_host() || identity.env.hostnames_of_single_host;
}

bool lists_addresses(const SliceIdentity& identity, const std::vector<int>& ports) {
  return splits_hosts(identity, ports) || identity.env.always_addresses;
}

std::size_t times_per_host(const SliceIdentity& identity, const std::vector<int>& ports) {
  return identity.env.hostnames_per_process ? ports.size() : 1;
}

/// The addresses by worker id. A slice of one host talks to itself.
std::string process_addresses(const SliceIdentity& identity, const std::vector<int>& ports, std::int64_t size) {
  const bool named = lists_names(identity);
  std::string addresses;
  addresses.reserve(static_cast<std::size_t>(size));
  for (int host = 0; host < identity.hosts; ++host) {
    for (const int port : ports) {
      if (!addresses.empty()) addresses += ',';
      if (named) {
        identity.append_address(addresses, host);
      } else {
        addresses += kLocalhost;
      }
      addresses += ':';
      addresses += std::to_string(port);
    }
  }
  return addresses;
}

std::string worker_hostnames(const SliceIdentity& identity, std::size_t times, std::int64_t size) {
  std::string names;
  names.reserve(static_cast<std::size_t>(size));
  for (int host = 0; host < identity.hosts; ++host) {
    for (std::size_t time = 0; time < times; ++time) {
      if (!names.empty()) names += ',';
      identity.append_address(names, host);
    }
  }
  return names;
}

void append_megascale(const SliceIdentity& identity, std::size_t process, bool split, std::vector<EnvVar>& env) {
  const int port = identity.env.megascale_port;
  if (identity.slices > 1) env.push_back({"MEGASCALE_NUM_SLICES", std::to_string(identity.slices), {}});
  env.push_back({"MEGASCALE_SLICE_ID", std::to_string(identity.slice_index), {}});
  env.push_back({"MEGASCALE_COORDINATOR_ADDRESS",
                 split ? fmt::format("{}:{}", identity.coordinator, port) : identity.coordinator,
                 {}});
  env.push_back({"MEGASCALE_PORT", std::to_string(port + (split ? static_cast<int>(process) : 0)), {}});
}

}  // namespace

std::vector<int> process_ports(const SliceIdentity& identity, const Json& list,
                               const std::vector<TpuContainer>& processes) {
  std::vector<int> ports;
  ports.reserve(processes.size());
  for (std::size_t index = 0; index < processes.size(); ++index) {
    int port = identity.env.process_port + static_cast<int>(index);
    const Json* env = find_path(list, {std::to_string(processes[index].position), "env"});
    if (env != nullptr && !is_platform_default(*env, "TPU_PROCESS_PORT", index)) {
      const auto declared = parse_integer<int>(literal(*env, "TPU_PROCESS_PORT").value_or(""));
      if (declared && *declared > 0) port = *declared;
    }
    ports.push_back(port);
  }
  return ports;
}

ListSizes list_sizes(const SliceIdentity& identity, const std::vector<int>& ports) {
  const std::int64_t hosts = identity.hosts;
  const auto processes = static_cast<std::int64_t>(ports.size());
  // "<hostname>.<subdomain>" of all hosts.
  const std::int64_t names =
      identity.host_names.total_size(identity.hosts) + hosts * static_cast<std::int64_t>(1 + identity.subdomain.size());
  ListSizes sizes;
  if (lists_names(identity)) {
    const auto times = static_cast<std::int64_t>(times_per_host(identity, ports));
    sizes.hostnames = times * names + hosts * times - 1;
  }
  if (lists_addresses(identity, ports)) {
    std::int64_t port_digits = 0;
    for (const int port : ports) port_digits += static_cast<std::int64_t>(std::to_string(port).size());
    const std::int64_t hosts_of_addresses =
        processes * (lists_names(identity) ? names : hosts * static_cast<std::int64_t>(kLocalhost.size()));
    // Each has a colon and, but the last, a comma.
    sizes.addresses = hosts_of_addresses + hosts * port_digits + 2 * hosts * processes - 1;
  }
  return sizes;
}

std::vector<EnvVar> worker_env(const SliceIdentity& identity, std::size_t process, const std::vector<int>& ports,
                               bool multislice) {
  const bool split = splits_hosts(identity, ports);
  const ListSizes sizes = list_sizes(identity, ports);
  const std::size_t id = static_cast<std::size_t>(identity.host_index) * ports.size() + process;
  std::vector<EnvVar> env;
  env.push_back({"TPU_WORKER_ID", std::to_string(id), {}});
  if (lists_names(identity)) {
    env.push_back(
        {"TPU_WORKER_HOSTNAMES", worker_hostnames(identity, times_per_host(identity, ports), sizes.hostnames), {}});
  }
  env.push_back({"TPU_NAME", identity.slice_name, {}});
  if (lists_addresses(identity, ports)) {
    env.push_back({"TPU_PROCESS_ADDRESSES", process_addresses(identity, ports, sizes.addresses), {}});
    env.push_back({"TPU_PROCESS_PORT", std::to_string(ports.at(process)), {}});
  }
  env.push_back({"TPU_DEVICE_PLUGIN_HOST_IP", {}, "status.hostIP"});
  env.push_back({"TPU_DEVICE_PLUGIN_ADDR", fmt::format("$(TPU_DEVICE_PLUGIN_HOST_IP):{}", kMetricsPort), {}});
  if (multislice) append_megascale(identity, process, split, env);
  return env;
}

bool wants_multislice(int slices, const Json& env) {
  const Json* entry = find_env(env, "MEGASCALE_NUM_SLICES");
  if (entry == nullptr) return slices > 1;
  return find_path(*entry, {"valueFrom"}) != nullptr || !string_at(*entry, {"value"}).empty();
}

bool declares_identity(const Json& env) {
  for (const std::string_view name : {"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES"}) {
    if (find_env(env, name) != nullptr && !has_platform_defaults(env)) return true;
  }
  return false;
}

Json merge_env(Json env, const std::vector<EnvVar>& wanted, std::size_t process) {
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
    } else if (is_platform_default(env, variable.name, process)) {
      // Replaced after the loop, as is_platform_default() looks at several variables.
      replaced.emplace_back(at, variable.to_json());
    }
  }
  for (auto& [at, variable] : replaced) env[at] = std::move(variable);
  for (Json& variable : env) joined.push_back(std::move(variable));
  for (Json& variable : back) joined.push_back(std::move(variable));
  return joined;
}

}  // namespace tpuslice::tpu
