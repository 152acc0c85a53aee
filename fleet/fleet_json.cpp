#include "fleet/fleet_json.h"

#include <array>
#include <utility>

#include "api/types/utf8.h"

namespace tpuslice::fleet {
namespace {

void put(Json& json, const char* member, const std::string& text) {
  if (!text.empty()) json[member] = text;
}
void put(Json& json, const char* member, const std::optional<Timestamp>& time) {
  if (time) json[member] = format_rfc3339(*time);
}
void put(Json& json, const char* member, std::int64_t number) {
  if (number != 0) json[member] = number;
}
void put(Json& json, const char* member, bool flag) {
  if (flag) json[member] = true;
}

std::optional<Timestamp> time_at(const Json& json, std::string_view member) {
  return parse_rfc3339(string_at(json, {member}));
}

void write_workload(const WorkloadName& workload, Json& json) {
  json["namespace"] = workload.namespace_name;
  json["kind"] = workload.kind;
  json["name"] = workload.name;
}

WorkloadName read_workload_name(const Json& json) {
  return {string_at(json, {"namespace"}), string_at(json, {"kind"}), string_at(json, {"name"})};
}

std::vector<std::string> strings_at(const Json& json, std::string_view member) {
  std::vector<std::string> out;
  for (const Json& each : array_at(json, {member})) {
    if (each.is_string()) out.push_back(each.get<std::string>());
  }
  return out;
}

/// The state of that name; `fallback` for another text.
template <typename State>
State read_state(const Json& json, std::initializer_list<State> all, State fallback) {
  const std::string text = string_at(json, {"state"});
  for (const State state : all) {
    if (to_string(state) == text) return state;
  }
  return fallback;
}

Pool read_pool(const Json& json) {
  Pool pool;
  pool.name = string_at(json, {"name"});
  pool.topology_key = string_at(json, {"topologyKey"});
  pool.accelerator = string_at(json, {"accelerator"});
  pool.tpu = string_at(json, {"tpu"});
  pool.topology = string_at(json, {"topology"});
  pool.chips = int_at(json, {"chips"});
  pool.hosts = string_at(json, {"hosts"});
  pool.wanted_hosts = int_at(json, {"wantedHosts"}, static_cast<std::int64_t>(pool.hosts.size()));
  pool.used_hosts = int_at(json, {"usedHosts"});
  pool.nodes = strings_at(json, "nodes");
  using enum PoolState;
  pool.state = read_state(json, {kInUse, kFree, kReserved, kBroken, kDraining, kPartial}, kFree);
  pool.since = time_at(json, "since");
  pool.problem = string_at(json, {"problem"});
  pool.until = time_at(json, "until");
  for (const Json& each : array_at(json, {"users"})) {
    pool.users.push_back({read_workload_name(each), string_at(each, {"slice"}), bool_at(each, {"reserved"})});
  }
  pool.zone = string_at(json, {"zone"});
  pool.capacity = string_at(json, {"capacity"});
  pool.failures = int_at(json, {"failures"});
  return pool;
}

FleetSlice read_slice(const Json& json) {
  FleetSlice slice;
  slice.workload = read_workload_name(json);
  slice.slice = string_at(json, {"slice"});
  slice.key = string_at(json, {"key"});
  slice.topology_key = string_at(json, {"topologyKey"});
  slice.accelerator = string_at(json, {"accelerator"});
  slice.tpu = string_at(json, {"tpu"});
  slice.topology = string_at(json, {"topology"});
  slice.hosts = int_at(json, {"hosts"});
  slice.ready = int_at(json, {"ready"});
  using enum SliceState;
  slice.state = read_state(json, {kWaiting, kPlaced, kRunning, kRestarting, kEnding, kDone}, kWaiting);
  slice.since = time_at(json, "since");
  slice.pool = string_at(json, {"pool"});
  slice.code = string_at(json, {"code"});
  slice.reason = string_at(json, {"reason"});
  slice.position = int_at(json, {"position"});
  slice.behind = strings_at(json, "behind");
  slice.never = bool_at(json, {"never"});
  slice.queued_since = time_at(json, "queuedSince");
  slice.problem = string_at(json, {"problem"});
  slice.gang = string_at(json, {"gang"});
  slice.gang_slices = int_at(json, {"gangSlices"}, 1);
  slice.priority = int_at(json, {"priority"});
  return slice;
}

}  // namespace

Json write_pool(const Pool& pool, const FleetJsonOptions& options) {
  Json json = {{"name", pool.name},        {"topologyKey", pool.topology_key}, {"accelerator", pool.accelerator},
               {"tpu", pool.tpu},          {"topology", pool.topology},        {"chips", pool.chips},
               {"hosts", pool.hosts},      {"state", to_string(pool.state)},   {"users", Json::array()},
               {"capacity", pool.capacity}};
  if (std::cmp_not_equal(pool.wanted_hosts, pool.hosts.size())) json["wantedHosts"] = pool.wanted_hosts;
  if (options.nodes && !pool.nodes.empty()) json["nodes"] = pool.nodes;
  put(json, "since", pool.since);
  put(json, "problem", pool.problem);
  put(json, "until", pool.until);
  put(json, "zone", pool.zone);
  put(json, "failures", pool.failures);
  put(json, "usedHosts", pool.used_hosts);
  for (const PoolUser& user : pool.users) {
    Json entry;
    write_workload(user.workload, entry);
    put(entry, "slice", user.slice);
    put(entry, "reserved", user.reserved);
    json["users"].push_back(std::move(entry));
  }
  return json;
}

Json write_slice(const FleetSlice& slice) {
  Json json = {{"accelerator", slice.accelerator},
               {"tpu", slice.tpu},
               {"topology", slice.topology},
               {"hosts", slice.hosts},
               {"ready", slice.ready},
               {"state", to_string(slice.state)}};
  write_workload(slice.workload, json);
  put(json, "slice", slice.slice);
  put(json, "key", slice.key);
  put(json, "topologyKey", slice.topology_key);
  put(json, "since", slice.since);
  put(json, "pool", slice.pool);
  put(json, "code", slice.code);
  put(json, "reason", slice.reason);
  put(json, "position", slice.position);
  if (!slice.behind.empty()) json["behind"] = slice.behind;
  put(json, "never", slice.never);
  put(json, "queuedSince", slice.queued_since);
  put(json, "problem", slice.problem);
  put(json, "gang", slice.gang);
  if (slice.gang_slices != 1) json["gangSlices"] = slice.gang_slices;
  put(json, "priority", slice.priority);
  return json;
}

Json write_attention(const Attention& attention) {
  Json json = {{"about", attention.about}, {"text", attention.text}, {"command", attention.command}};
  put(json, "namespace", attention.namespace_name);
  return json;
}

Json write_fleet(const Fleet& fleet, const FleetJsonOptions& options) {
  Json cluster = Json::object();
  put(cluster, "name", fleet.cluster.name);
  put(cluster, "kubernetes", fleet.cluster.kubernetes);
  put(cluster, "operator", fleet.cluster.operator_version);
  put(cluster, "replicas", fleet.cluster.replicas);
  put(cluster, "ready", fleet.cluster.ready);
  Json json = {{"schema", kFleetSchema},        {"time", format_rfc3339(fleet.time)},
               {"cluster", std::move(cluster)}, {"pools", Json::array()},
               {"slices", Json::array()},       {"attention", Json::array()}};
  for (const Pool& pool : fleet.pools) json["pools"].push_back(write_pool(pool, options));
  for (const FleetSlice& slice : fleet.slices) json["slices"].push_back(write_slice(slice));
  for (const Attention& each : fleet.attention) json["attention"].push_back(write_attention(each));
  for (const MissingRight& each : fleet.missing) {
    Json missing = {{"resource", each.resource}};
    put(missing, "namespace", each.namespace_name);
    json["missing"].push_back(std::move(missing));
  }
  return json;
}

Result<Fleet> read_fleet(const Json& json) {
  if (const std::string schema = string_at(json, {"schema"}); schema != kFleetSchema) {
    return Error::invalid_argument("schema: Invalid value: \"{}\": expected \"{}\"", clip(schema, 64), kFleetSchema);
  }
  const std::optional<Timestamp> time = time_at(json, "time");
  if (!time) return Error::invalid_argument("time: Invalid value: expected RFC 3339");
  Fleet fleet;
  fleet.time = *time;
  const Json& cluster = object_at(json, {"cluster"});
  fleet.cluster = {string_at(cluster, {"name"}), string_at(cluster, {"kubernetes"}), string_at(cluster, {"operator"}),
                   int_at(cluster, {"replicas"}), int_at(cluster, {"ready"})};
  for (const Json& each : array_at(json, {"pools"})) fleet.pools.push_back(read_pool(each));
  for (const Json& each : array_at(json, {"slices"})) fleet.slices.push_back(read_slice(each));
  for (const Json& each : array_at(json, {"attention"})) {
    fleet.attention.push_back({string_at(each, {"about"}), string_at(each, {"namespace"}), string_at(each, {"text"}),
                               string_at(each, {"command"})});
  }
  for (const Json& each : array_at(json, {"missing"})) {
    fleet.missing.push_back({string_at(each, {"resource"}), string_at(each, {"namespace"})});
  }
  return fleet;
}

}  // namespace tpuslice::fleet
