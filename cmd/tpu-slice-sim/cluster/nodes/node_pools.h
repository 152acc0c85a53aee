// NodePools: the nodes of the simulated cluster, with GKE's labels and taints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

/// One node pool. A TPU pool of several hosts is one slice.
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
  Json labels = Json::object();  ///< In addition to GKE's, or instead of them.
  Json taints = Json::array();   ///< In addition to that of TPU nodes.
};

/// The pools of `{pools: [{name, accelerator, topology, machineType, hosts, chipsPerHost, cpu, memory, zone, labels,
/// taints}]}`. `hosts` and `chipsPerHost` default to those of the topology and machine type.
///
/// Errors: InvalidArgument with the path of the first invalid field, its value and what is valid.
[[nodiscard]] Result<std::vector<NodePool>> parse_node_pools(const Json& config);

/// Two v6e 4x4 slices, one v5e 4x8 slice, and three CPU nodes.
[[nodiscard]] std::vector<NodePool> default_node_pools();

/// Addresses of the pods on node `index` of the cluster: "10.64.3.0/24".
[[nodiscard]] std::string pod_network(int index);
[[nodiscard]] std::string node_name(const NodePool& pool, int host);
/// A Ready node. `index` is its number in the cluster, which determines its addresses.
[[nodiscard]] Json make_node(const NodePool& pool, int host, int index, const std::string& now);

}  // namespace tpuslice::sim
