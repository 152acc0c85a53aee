// NodePools: the machines of the simulated cluster, pool by pool, labelled and tainted as GKE does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

/// One pool. A TPU pool of several hosts is one slice.
struct NodePool {
  std::string name;
  std::string accelerator;  ///< "tpu-v6e-slice"; empty for CPU pools.
  std::string topology;     ///< "4x4"; with `accelerator` only.
  std::string machine_type = "n2-standard-16";
  int hosts = 1;
  int chips_per_host = 0;
  std::string cpu = "16";
  std::string memory = "64Gi";
  std::string zone = "us-east5-b";
  Json labels = Json::object();  ///< Added to, and winning over, those of GKE.
  Json taints = Json::array();   ///< Added to that of TPU nodes.
};

/// The pools of `{pools: [{name, accelerator, topology, machineType, hosts, chipsPerHost, cpu, memory, zone, labels,
/// taints}]}`. `hosts` and `chipsPerHost` follow from topology and machine type where they are absent.
///
/// Errors: InvalidArgument with the path of the first wrong field, what it holds and what it should.
[[nodiscard]] Result<std::vector<NodePool>> parse_node_pools(const Json& config);

/// Two v6e 4x4 slices, one v5e 4x8 slice, and three CPU nodes.
[[nodiscard]] std::vector<NodePool> default_node_pools();

[[nodiscard]] std::string node_name(const NodePool& pool, int host);
/// The Node object of one machine, Ready. `index` is its number in the whole cluster and decides its addresses.
[[nodiscard]] Json make_node(const NodePool& pool, int host, int index, const std::string& now);

}  // namespace tpuslice::sim
