// The simulated fleet: the nodes of one accelerator in node pools of several shapes, and the domains that slices of
// each shape may get.
#pragma once

#include <string>
#include <vector>

namespace tpuslice::fleet_bench {

// Indexes in Fleet::nodes, pools, domains and shapes.
using NodeId = int;
using PoolId = int;
using DomainId = int;
using ShapeId = int;

inline constexpr const char* kAccelerator = "tpu-v6e-slice";
inline constexpr int kChipsPerHost = 4;

struct Pool {
  std::string name;
  std::string topology;  ///< "8x8"
  std::string zone;
  bool spot = false;
  NodeId first_node = 0;
  int nodes = 0;
};

struct Node {
  std::string name;
  PoolId pool = 0;
  std::vector<DomainId> domains;  ///< Those that contain it.
};

/// Neighbouring nodes that together are exactly one slice of a shape: a node pool, or a sub-slice of one.
struct Domain {
  std::string name;  ///< Value of the topology key of its shape.
  ShapeId shape = 0;
  PoolId pool = 0;
  NodeId first_node = 0;
  int nodes = 0;
};

struct Shape {
  std::string name;  ///< "8x8", or "8x8 of 16x16" for sub-slices.
  std::string topology_key;
  std::string pool_topology;  ///< Topology of its node pools, which the pods select.
  int hosts = 0;
  int group = 0;                  ///< Shapes of one group share nodes.
  double share = 1;               ///< The part of the group's load that asks for this shape.
  bool has_spot = false;          ///< Some of its node pools are spot.
  std::vector<DomainId> domains;  ///< By name.
};

struct Fleet {
  std::vector<Pool> pools;
  std::vector<Node> nodes;
  std::vector<Domain> domains;
  std::vector<Shape> shapes;
  int groups = 0;

  [[nodiscard]] int node_count() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] int chips() const { return node_count() * kChipsPerHost; }
};

/// About `nodes` nodes: whole node pools, at least one of each topology. Those of 16x16 are also cut into sub-slices.
[[nodiscard]] Fleet make_fleet(int nodes);

}  // namespace tpuslice::fleet_bench
