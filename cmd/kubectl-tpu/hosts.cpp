#include "cmd/kubectl-tpu/hosts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/base/human_duration.h"
#include "api/base/strings.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "tpu/labels.h"
#include "tpu/variable_value.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxReason = 40;  ///< Characters.
constexpr std::string_view kResolvesWhenReady = "resolves when Ready";

std::string env_of_host(const Object& pod, std::string_view name) {
  const auto containers = tpu_containers_of(pod.json());
  if (containers.empty()) return {};
  for (const Json& variable : array_at(*containers.front(), {"env"})) {
    if (is_named(variable, name)) return tpu::variable_value(pod.json(), variable);
  }
  return {};
}

void add_exit(const Json& status, std::string_view state, std::vector<LastExit>& exits) {
  const Json* const ended = find_set(status, {state, "terminated"});
  if (ended == nullptr) return;
  exits.push_back({string_at(status, {"name"}), int_at(*ended, {"exitCode"}), string_at(*ended, {"reason"}),
                   parse_rfc3339(string_at(*ended, {"finishedAt"}))});
}

/// All ends of containers that the pod's status knows.
std::vector<LastExit> exits_of(const Object& pod) {
  std::vector<LastExit> exits;
  for (const Json& status : array_at(pod.json(), {"status", "containerStatuses"})) {
    add_exit(status, "lastState", exits);
    add_exit(status, "state", exits);
  }
  return exits;
}

bool is_ready(const Json& pod) {
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "Ready") return string_at(condition, {"status"}) == "True";
  }
  return false;
}

std::int64_t restarts_of(const Json& pod) {
  std::int64_t restarts = 0;
  for (const Json& status : array_at(pod, {"status", "containerStatuses"})) {
    restarts += int_at(status, {"restartCount"});
  }
  return restarts;
}

/// Number of hosts of the pod's slice.
int hosts_of(const Object& pod) { return std::max(1, parse_count(pod.annotation(tpu::kSliceHosts)).value_or(1)); }

std::string check_worker_id(const Object& pod, const Host& host) {
  const std::size_t processes = std::max<std::size_t>(1, tpu_containers_of(pod.json()).size());
  const std::string expected = std::to_string(static_cast<std::size_t>(host.index) * processes);
  if (host.worker_id == expected) return "ok";
  return host.worker_id.empty() ? "not set, expected " + expected : "expected " + expected;
}

std::string check_names(const Object& pod, const Host& host, const std::string& names_of_slice) {
  const int hosts = hosts_of(pod);
  if (hosts == 1) return "ok";  // One host needs no names.
  if (host.index >= hosts) return fmt::format("host {} of a slice of {}", host.index, hosts);
  const std::string names = env_of_host(pod, "TPU_WORKER_HOSTNAMES");
  if (names.empty()) return "TPU_WORKER_HOSTNAMES is not set";
  if (names != names_of_slice) return "differ from host 0";
  const std::vector<std::string> entries = split(names, ',');
  if (entries.size() % static_cast<std::size_t>(hosts) != 0) {
    return fmt::format("{} names for {} hosts", entries.size(), hosts);
  }
  const std::size_t per_host = entries.size() / static_cast<std::size_t>(hosts);
  const std::string& own = entries[static_cast<std::size_t>(host.index) * per_host];
  const std::string hostname = string_at(pod.json(), {"spec", "hostname"}, pod.name());
  const std::string subdomain = string_at(pod.json(), {"spec", "subdomain"});
  const std::string expected = hostname + "." + subdomain;
  const bool same = own == hostname || own == expected || own.starts_with(expected + ".");
  return same ? "ok" : fmt::format("entry {} is {}, the pod is {}", host.index, cut_text(own, kMaxReason), expected);
}

bool selects(const Object& service, const Object& pod) {
  const Json& selector = object_at(service.json(), {"spec", "selector"});
  return !selector.empty() && std::ranges::all_of(selector.items(), [&pod](const auto& entry) {
    return entry.value().is_string() && pod.label(entry.key()) == entry.value().template get<std::string>();
  });
}

std::string check_peers(const Object& pod, bool ready, const std::vector<Object>& services) {
  if (hosts_of(pod) == 1) return "ok";
  const std::string subdomain = string_at(pod.json(), {"spec", "subdomain"});
  if (subdomain.empty()) return "no subdomain";
  const auto service = std::ranges::find(services, subdomain, &Object::name);
  if (service == services.end()) return "no service " + subdomain;
  if (string_at(service->json(), {"spec", "clusterIP"}) != "None") return "service " + subdomain + " is not headless";
  if (!selects(*service, pod)) return "service " + subdomain + " does not select it";
  const bool early = bool_at(service->json(), {"spec", "publishNotReadyAddresses"});
  return ready || early ? "ok" : std::string(kResolvesWhenReady);
}

std::string exit_text(const std::optional<LastExit>& ended, Timestamp now) {
  if (!ended) return "-";
  const std::string reason = ended->reason.empty() ? "" : " " + cut_text(ended->reason, kMaxReason);
  return fmt::format("{}{}{}", ended->code, reason, ended->at ? " " + human_duration(now - *ended->at) : "");
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// "2 ok", "2, expected 1", "not set, expected 1"
std::string worker_id_cell(const Host& host) {
  if (!host.check) return or_dash(host.worker_id);
  if (host.worker_id.empty()) return host.check->worker_id;
  return host.worker_id + (host.check->worker_id == "ok" ? " ok" : ", " + host.check->worker_id);
}

}  // namespace

std::optional<LastExit> last_exit_of(const Object& pod) {
  const std::vector<LastExit> exits = exits_of(pod);
  const auto last = std::ranges::max_element(exits, {}, [](const LastExit& each) { return each.at; });
  return last == exits.end() ? std::nullopt : std::optional(*last);
}

std::optional<Timestamp> failed_at(const Object& pod) {
  std::optional<Timestamp> first;
  for (const LastExit& each : exits_of(pod)) {
    if (each.code != 0 && each.at && (!first || *each.at < *first)) first = each.at;
  }
  return first;
}

std::vector<Host> read_hosts(const std::vector<Object>& pods) {
  std::vector<Host> hosts;
  hosts.reserve(pods.size());
  for (const Object& pod : pods) {
    const Json& json = pod.json();
    hosts.push_back({.slice = slice_name_of(pod),
                     .index = host_index_of(pod),
                     .pod = pod.name(),
                     .node = string_at(json, {"spec", "nodeName"}),
                     .phase = pod.deletion_timestamp() ? "Terminating" : string_at(json, {"status", "phase"}),
                     .ready = is_ready(json),
                     .restarts = restarts_of(json),
                     .last_exit = last_exit_of(pod),
                     .worker_id = env_of_host(pod, "TPU_WORKER_ID"),
                     .check = {}});
  }
  return hosts;
}

void check_hosts(const std::vector<Object>& pods, const std::vector<Object>& services, std::vector<Host>& hosts) {
  std::map<std::string, std::string> names_of_slices;  // Those of host 0.
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (hosts[i].index < 0) continue;  // A companion of the slice, which is no host.
    names_of_slices.try_emplace(pods[i].label(tpu::kSlice), env_of_host(pods[i], "TPU_WORKER_HOSTNAMES"));
  }
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const Object& pod = pods[i];
    if (hosts[i].index < 0) continue;
    hosts[i].check =
        HostCheck{check_worker_id(pod, hosts[i]), check_names(pod, hosts[i], names_of_slices[pod.label(tpu::kSlice)]),
                  check_peers(pod, hosts[i].ready, services)};
  }
}

std::string lookup_script() {
  return "for name in $(echo \"$TPU_WORKER_HOSTNAMES\" | tr , ' '); do "
         "if getent hosts \"$name\" >/dev/null; then echo +; else echo \"-$name\"; fi; done";
}

bool HostCheck::ok_when_ready() const {
  return worker_id == "ok" && names == "ok" && (peers == "ok" || peers == kResolvesWhenReady);
}

std::string peers_of_lookup(std::string_view output) {
  std::size_t resolved = 0;
  std::size_t all = 0;
  std::string first;
  for (const std::string& line : split(output, '\n')) {
    if (line.empty()) continue;
    ++all;
    if (line == "+") ++resolved;
    if (line != "+" && first.empty()) first = line.substr(1);
  }
  if (all == 0) return "no name was looked up";
  if (resolved == all) return "ok";
  return fmt::format("{} of {} resolve, not {}", resolved, all, cut_text(first, kMaxReason));
}

TextTable hosts_table(const std::vector<Host>& hosts, Timestamp now) {
  TextTable table{{"HOST", "POD", "NODE", "READY", "RESTARTS", "LAST EXIT", "WORKER_ID"}, {}};
  const bool checked = std::ranges::any_of(hosts, [](const Host& host) { return host.check.has_value(); });
  const bool several = std::ranges::any_of(hosts, [&](const Host& host) { return host.slice != hosts.front().slice; });
  if (checked) table.header.insert(table.header.end(), {"NAMES", "PEERS"});
  if (several) table.header.insert(table.header.begin(), "SLICE");
  for (const Host& host : hosts) {
    std::vector<std::string> row = {host.index < 0 ? "-" : std::to_string(host.index),
                                    host.pod,
                                    or_dash(host.node),
                                    host.ready ? "yes" : "no",
                                    std::to_string(host.restarts),
                                    exit_text(host.last_exit, now),
                                    worker_id_cell(host)};
    if (host.check) row.insert(row.end(), {host.check->names, host.check->peers});
    if (checked && !host.check) row.insert(row.end(), {"-", "-"});
    if (several) row.insert(row.begin(), host.slice);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json hosts_document(const std::vector<Host>& hosts) {
  Json list = Json::array();
  for (const Host& host : hosts) {
    Json entry = {{"slice", host.slice},       {"host", host.index},        {"pod", host.pod},
                  {"node", host.node},         {"phase", host.phase},       {"ready", host.ready},
                  {"restarts", host.restarts}, {"workerId", host.worker_id}};
    if (host.last_exit) {
      entry["lastExit"] = {{"container", host.last_exit->container},
                           {"exitCode", host.last_exit->code},
                           {"reason", host.last_exit->reason}};
      if (host.last_exit->at) entry["lastExit"]["time"] = format_rfc3339(*host.last_exit->at);
    }
    if (host.check) {
      entry["check"] = {
          {"workerId", host.check->worker_id}, {"names", host.check->names}, {"peers", host.check->peers}};
    }
    list.push_back(std::move(entry));
  }
  return {{"schema", "tpuslice.dev/hosts.v1"}, {"hosts", std::move(list)}};
}

}  // namespace tpuslice::plugin
