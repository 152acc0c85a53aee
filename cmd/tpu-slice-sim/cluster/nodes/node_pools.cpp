#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/quantity.h"

namespace tpuslice::sim {

namespace {

constexpr std::string_view kLabelPrefix = "cloud.google.com/";
constexpr int kMaxHosts = 10'000;

/// GKE's machine types by accelerator; the number before the final `t` is the number of chips.
struct AcceleratorMachines {
  std::string_view accelerator;
  std::string_view machine_prefix;
};
constexpr std::array<AcceleratorMachines, 6> kMachines{{
    {"tpu-v4-podslice", "ct4p-hightpu-"},
    {"tpu-v5-lite-podslice", "ct5lp-hightpu-"},
    {"tpu-v5p-slice", "ct5p-hightpu-"},
    {"tpu-v6e-slice", "ct6e-standard-"},
    {"tpu7x", "tpu7x-standard-"},
    {"tpu-v3-slice", "ct3p-hightpu-"},
}};

/// Sources: Google's pages on TPU machine types and the lists of the Compute API; that of tpu7x-standard-1t is a
/// quarter of the 4t. A real node keeps some of it for the system.
struct MachineSize {
  std::string_view type;
  std::string_view cpu;
  std::string_view memory;
};
constexpr std::array<MachineSize, 11> kSizes{{
    {"ct3p-hightpu-4t", "48", "340Gi"},
    {"ct4p-hightpu-4t", "240", "407Gi"},
    {"ct5lp-hightpu-1t", "24", "48Gi"},
    {"ct5lp-hightpu-4t", "112", "192Gi"},
    {"ct5lp-hightpu-8t", "224", "384Gi"},
    {"ct5p-hightpu-4t", "208", "448Gi"},
    {"ct6e-standard-1t", "44", "176Gi"},
    {"ct6e-standard-4t", "180", "720Gi"},
    {"ct6e-standard-8t", "180", "1440Gi"},
    {"tpu7x-standard-1t", "56", "240Gi"},
    {"tpu7x-standard-4t", "224", "960Gi"},
}};

const AcceleratorMachines* machines_of(std::string_view accelerator) {
  const auto found = std::find_if(kMachines.begin(), kMachines.end(),
                                  [&](const AcceleratorMachines& entry) { return entry.accelerator == accelerator; });
  return found == kMachines.end() ? nullptr : &*found;
}

/// The chips of "ct6e-standard-4t", if any.
std::optional<int> machine_chips(std::string_view machine_type) {
  const std::size_t dash = machine_type.rfind('-');
  if (dash == std::string_view::npos || !machine_type.ends_with('t')) return std::nullopt;
  const auto chips = parse_count(machine_type.substr(dash + 1, machine_type.size() - dash - 2));
  return chips && *chips > 0 ? chips : std::nullopt;
}

/// The number of chips of "4x4", if it is a topology.
std::optional<int> topology_chips(std::string_view topology) {
  int product = 1;
  int dimensions = 0;
  while (true) {
    int size = 0;
    const auto [end, error] = std::from_chars(topology.data(), topology.data() + topology.size(), size);
    if (error != std::errc() || size <= 0 || size > kMaxHosts || product > kMaxHosts * 8) return std::nullopt;
    product *= size;
    ++dimensions;
    topology.remove_prefix(static_cast<std::size_t>(end - topology.data()));
    if (topology.empty()) break;
    if (topology.front() != 'x') return std::nullopt;
    topology.remove_prefix(1);
  }
  return dimensions == 2 || dimensions == 3 ? std::optional(product) : std::nullopt;
}

/// Reads the fields of one pool, keeping the first error.
class PoolReader {
 public:
  PoolReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  void text(const char* field, std::string& out) {
    const Json* value = find(field);
    if (value == nullptr) return;
    if (value->is_number()) {
      out = value->dump();
    } else if (value->is_string()) {
      out = value->get<std::string>();
    } else {
      fail(field, *value, "a string");
    }
  }
  void count(const char* field, int& out, int least, int most) {
    const Json* value = find(field);
    if (value == nullptr) return;
    if (!value->is_number_integer() || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
      return fail(field, *value, fmt::format("an integer from {} to {}", least, most));
    }
    out = value->get<int>();
  }
  void document(const char* field, Json& out, bool object) {
    const Json* value = find(field);
    if (value == nullptr) return;
    if (object ? !value->is_object() : !value->is_array()) return fail(field, *value, object ? "a map" : "a list");
    out = *value;
  }
  void fail(const char* field, const Json& found, const std::string& wanted) {
    if (!error_) {
      error_ = Error::invalid_argument("{}.{}: {} should be {}", path_, field, found.dump(), wanted);
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] bool has(const char* field) const { return json_.contains(field); }

 private:
  const Json* find(const char* field) const {
    const auto found = json_.find(field);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& json_;
  const std::string path_;
  std::optional<Error> error_;
};

void read_tpu(PoolReader& reader, NodePool& pool) {
  const AcceleratorMachines* machines = machines_of(pool.accelerator);
  if (machines == nullptr) {
    std::string known;
    for (const AcceleratorMachines& entry : kMachines)
      known += (known.empty() ? "" : ", ") + std::string(entry.accelerator);
    return reader.fail("accelerator", pool.accelerator, "one of " + known);
  }
  if (!reader.has("machineType")) pool.machine_type = std::string(machines->machine_prefix) + "4t";
  if (!pool.machine_type.starts_with(machines->machine_prefix)) {
    reader.fail("machineType", pool.machine_type,
                fmt::format("a {}*t machine for {}", machines->machine_prefix, pool.accelerator));
  }
  const std::optional<int> chips = machine_chips(pool.machine_type);
  const std::optional<int> total = topology_chips(pool.topology);
  if (!total) return reader.fail("topology", pool.topology, "like 4x4 or 2x2x2");
  if (!chips) return reader.fail("machineType", pool.machine_type, "a machine with chips, like ct6e-standard-4t");
  if (!reader.has("chipsPerHost")) pool.chips_per_host = *chips;
  if (pool.chips_per_host != *chips) {
    return reader.fail("chipsPerHost", pool.chips_per_host,
                       fmt::format("{}, the chips of {}", *chips, pool.machine_type));
  }
  if (*total % *chips != 0) {
    return reader.fail("topology", pool.topology,
                       fmt::format("a multiple of the {} chips of {}", *chips, pool.machine_type));
  }
  const int hosts = *total / *chips;
  if (!reader.has("hosts")) pool.hosts = hosts;
  if (pool.hosts != hosts) {
    reader.fail("hosts", pool.hosts,
                fmt::format("{}: topology {} has {} chips, {} per host", hosts, pool.topology, *total, *chips));
  }
  const auto* const size = std::ranges::find(kSizes, pool.machine_type, &MachineSize::type);
  if (size == kSizes.end()) {
    if (!reader.has("cpu")) reader.fail("cpu", nullptr, "given, as it is not known of " + pool.machine_type);
    if (!reader.has("memory")) reader.fail("memory", nullptr, "given, as it is not known of " + pool.machine_type);
    return;
  }
  if (!reader.has("cpu")) pool.cpu = size->cpu;
  if (!reader.has("memory")) pool.memory = size->memory;
}

Result<NodePool> read_pool(const Json& json, const std::string& path) {
  if (!json.is_object()) return Error::invalid_argument("{}: {} should be a map", path, json.dump());
  static const std::set<std::string> kFields{"name", "accelerator", "topology", "machineType", "hosts", "chipsPerHost",
                                             "cpu",  "memory",      "zone",     "labels",      "taints"};
  for (const auto& [field, value] : json.items()) {
    if (kFields.count(field) == 0) {
      return Error::invalid_argument("{}.{}: unknown field; a pool has {}", path, field, fmt::join(kFields, ", "));
    }
  }
  NodePool pool;
  PoolReader reader(json, path);
  reader.text("name", pool.name);
  if (pool.name.empty()) reader.fail("name", pool.name, "the name of the pool");
  reader.text("accelerator", pool.accelerator);
  reader.text("topology", pool.topology);
  reader.text("machineType", pool.machine_type);
  reader.count("hosts", pool.hosts, 0, kMaxHosts);
  reader.count("chipsPerHost", pool.chips_per_host, 1, 8);
  reader.text("cpu", pool.cpu);
  reader.text("memory", pool.memory);
  reader.text("zone", pool.zone);
  reader.document("labels", pool.labels, true);
  reader.document("taints", pool.taints, false);
  if (!pool.accelerator.empty()) {
    read_tpu(reader, pool);
  } else if (!pool.topology.empty() || reader.has("chipsPerHost")) {
    reader.fail("accelerator", nullptr, "given with topology and chipsPerHost, like tpu-v6e-slice");
  }
  if (!Quantity::parse(pool.cpu)) reader.fail("cpu", pool.cpu, "a quantity like 16");
  if (!Quantity::parse(pool.memory)) reader.fail("memory", pool.memory, "a quantity like 64Gi");
  if (reader.error()) return *reader.error();
  return pool;
}

Json node_labels(const NodePool& pool, const std::string& name) {
  Json labels = {{"kubernetes.io/hostname", name},
                 {"kubernetes.io/os", "linux"},
                 {"kubernetes.io/arch", "amd64"},
                 {"node.kubernetes.io/instance-type", pool.machine_type},
                 {"topology.kubernetes.io/zone", pool.zone},
                 {"topology.kubernetes.io/region", pool.zone.substr(0, pool.zone.rfind('-'))},
                 {std::string(kLabelPrefix) + "gke-nodepool", pool.name}};
  if (!pool.accelerator.empty()) {
    labels[std::string(kLabelPrefix) + "gke-tpu-accelerator"] = pool.accelerator;
    labels[std::string(kLabelPrefix) + "gke-tpu-topology"] = pool.topology;
    labels[std::string(kLabelPrefix) + "gke-accelerator-count"] = std::to_string(pool.chips_per_host);
  }
  labels.update(pool.labels);
  return labels;
}

}  // namespace

Result<std::vector<NodePool>> parse_node_pools(const Json& config) {
  const Json* list = find_path(config, {"pools"});
  if (list == nullptr || !list->is_array()) return Error::invalid_argument("pools: should be a list of node pools");
  std::vector<NodePool> out;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("pools[{}]", i);
    ASSIGN_OR_RETURN(NodePool pool, read_pool((*list)[i], path));
    if (!names.insert(pool.name).second) {
      return Error::invalid_argument("{}.name: \"{}\" is the name of an earlier pool", path, pool.name);
    }
    out.push_back(std::move(pool));
  }
  return out;
}

std::vector<NodePool> default_node_pools() {
  const Json config = {{"pools",
                        {{{"name", "v6e-4x4-a"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}},
                         {{"name", "v6e-4x4-b"}, {"accelerator", "tpu-v6e-slice"}, {"topology", "4x4"}},
                         {{"name", "v5e-4x8"}, {"accelerator", "tpu-v5-lite-podslice"}, {"topology", "4x8"}},
                         {{"name", "cpu"}, {"hosts", 3}, {"cpu", "16"}, {"memory", "64Gi"}}}}};
  return parse_node_pools(config).value();
}

std::string pod_network(int index) { return fmt::format("10.{}.{}.0/24", 64 + index / 256, index % 256); }

std::string node_name(const NodePool& pool, int host) { return fmt::format("{}-{}", pool.name, host); }

Json make_node(const NodePool& pool, int host, int index, const std::string& now) {
  const std::string name = node_name(pool, host);
  Json taints = Json::array();
  if (!pool.accelerator.empty()) {
    taints.push_back({{"key", "google.com/tpu"}, {"value", "present"}, {"effect", "NoSchedule"}});
  }
  for (const Json& taint : pool.taints) taints.push_back(taint);
  Json capacity = {{"cpu", pool.cpu}, {"memory", pool.memory}, {"ephemeral-storage", "500Gi"}, {"pods", "110"}};
  if (pool.chips_per_host > 0) capacity["google.com/tpu"] = std::to_string(pool.chips_per_host);
  const std::string cidr = pod_network(index);
  Json spec = {
      {"podCIDR", cidr}, {"podCIDRs", Json::array({cidr})}, {"providerID", "gce://sim/" + pool.zone + "/" + name}};
  if (!taints.empty()) spec["taints"] = taints;
  const Json ready = {{"type", "Ready"},          {"status", "True"},
                      {"reason", "KubeletReady"}, {"message", "kubelet is posting ready status"},
                      {"lastHeartbeatTime", now}, {"lastTransitionTime", now}};
  const std::string address = fmt::format("10.0.{}.{}", index / 250, 2 + index % 250);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", node_labels(pool, name)}}},
          {"spec", spec},
          {"status",
           {{"capacity", capacity},
            {"allocatable", capacity},
            {"conditions", Json::array({ready})},
            {"addresses", Json::array({Json{{"type", "InternalIP"}, {"address", address}},
                                       Json{{"type", "Hostname"}, {"address", name}}})},
            {"nodeInfo",
             {{"kubeletVersion", "v1.34.1"},
              {"containerRuntimeVersion", "containerd://2.0.0"},
              {"operatingSystem", "linux"},
              {"architecture", "amd64"},
              {"osImage", "Container-Optimized OS from Google"},
              {"kernelVersion", "6.6.0"}}}}}};
}

}  // namespace tpuslice::sim
