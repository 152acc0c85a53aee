#include "tests/bench/fleet/fleet.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::fleet_bench {
namespace {

/// The node pools of one topology.
struct PoolKind {
  const char* topology;
  int hosts;
  double share;    ///< Part of the nodes of the fleet.
  int spot_every;  ///< One of so many pools is spot; 0: none.
};

/// The shares are an assumption: small slices are many, and take a small part of the chips, as in "Characterization and
/// Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters" (2021) and "Characterization of Large Language
/// Model Development in the Datacenter" (2024).
constexpr std::array<PoolKind, 5> kPoolKinds = {
    {{"2x4", 2, 0.08, 4}, {"4x4", 4, 0.22, 4}, {"4x8", 8, 0.15, 4}, {"8x8", 16, 0.20, 0}, {"16x16", 64, 0.35, 0}}};
constexpr std::array<const char*, 3> kZones = {"zone-a", "zone-b", "zone-c"};

/// A shape that is a part of the node pools of 16x16.
struct SubSliceKind {
  const char* topology;
  int hosts;
  double share;  ///< Part of the load of these node pools.
};
constexpr const char* kPartitionedTopology = "16x16";
constexpr std::array<SubSliceKind, 2> kSubSliceKinds = {{{"8x8", 16, 0.25}, {"4x4", 4, 0.15}}};
constexpr double kWholePoolShare = 0.60;

DomainId add_domain(Fleet& fleet, ShapeId shape, PoolId pool, std::string name, NodeId first_node) {
  const auto id = static_cast<DomainId>(fleet.domains.size());
  const int hosts = fleet.shapes[shape].hosts;
  fleet.domains.push_back({std::move(name), shape, pool, first_node, hosts});
  fleet.shapes[shape].domains.push_back(id);
  for (int host = 0; host < hosts; ++host) fleet.nodes[first_node + host].domains.push_back(id);
  return id;
}

void add_pools(Fleet& fleet, const PoolKind& kind, int wanted_nodes) {
  const auto shape = static_cast<ShapeId>(fleet.shapes.size());
  const int group = fleet.groups++;
  fleet.shapes.push_back({.name = kind.topology,
                          .topology_key = std::string(tpu::kNodePoolLabel),
                          .pool_topology = kind.topology,
                          .hosts = kind.hosts,
                          .group = group,
                          .has_spot = kind.spot_every > 0});
  const int count = std::max(1, static_cast<int>(std::lround(kind.share * wanted_nodes / kind.hosts)));
  for (int index = 0; index < count; ++index) {
    const auto pool = static_cast<PoolId>(fleet.pools.size());
    const NodeId first = fleet.node_count();
    fleet.pools.push_back({.name = fmt::format("pool-{}-{:04}", kind.topology, index),
                           .topology = kind.topology,
                           .zone = kZones[static_cast<std::size_t>(index) % kZones.size()],
                           .spot = kind.spot_every > 0 && index % kind.spot_every == kind.spot_every - 1,
                           .first_node = first,
                           .nodes = kind.hosts});
    const std::string& name = fleet.pools.back().name;
    for (int host = 0; host < kind.hosts; ++host)
      fleet.nodes.push_back({fmt::format("{}-{:02}", name, host), pool, {}});
    add_domain(fleet, shape, pool, name, first);
  }
}

/// Adds the shapes that are parts of the node pools of `whole`.
void add_sub_slices(Fleet& fleet, ShapeId whole) {
  fleet.shapes[whole].share = kWholePoolShare;
  for (const SubSliceKind& kind : kSubSliceKinds) {
    const auto shape = static_cast<ShapeId>(fleet.shapes.size());
    fleet.shapes.push_back({.name = fmt::format("{} of {}", kind.topology, kPartitionedTopology),
                            .topology_key = fmt::format("cloud.google.com/gke-tpu-slice-{}-id", kind.topology),
                            .pool_topology = kPartitionedTopology,
                            .hosts = kind.hosts,
                            .group = fleet.shapes[whole].group,
                            .share = kind.share});
    for (PoolId id = 0; id < static_cast<PoolId>(fleet.pools.size()); ++id) {
      const Pool& pool = fleet.pools[id];
      if (pool.topology != kPartitionedTopology) continue;
      for (int part = 0; part * kind.hosts < pool.nodes; ++part) {
        add_domain(fleet, shape, id, fmt::format("{}-{}-{:02}", pool.name, kind.topology, part),
                   pool.first_node + part * kind.hosts);
      }
    }
  }
}

}  // namespace

Fleet make_fleet(int nodes) {
  Fleet fleet;
  for (const PoolKind& kind : kPoolKinds) add_pools(fleet, kind, nodes);
  add_sub_slices(fleet, static_cast<ShapeId>(fleet.shapes.size()) - 1);
  return fleet;
}

}  // namespace tpuslice::fleet_bench
