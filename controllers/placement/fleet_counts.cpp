#include "controllers/placement/fleet_counts.h"

#include <tuple>
#include <utility>

#include "controllers/slice/accelerator_labels.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

constexpr std::string_view kOtherTopology = "other";

/// What the labels of a node say of its slice.
struct Shape {
  ShapeLabels labels;
  std::int64_t slice_chips = 0;  ///< 0: not in the catalog.
  std::int64_t host_chips = 0;   ///< Usual number of chips of a host.
};

Shape shape_of(const std::string& accelerator, const std::string& topology) {
  Shape out{{slice::accelerator_label(accelerator), std::string(kOtherTopology)}};
  const auto known = tpu::find_accelerator(accelerator);
  const auto shape = tpu::Topology::parse(topology);
  if (!known || !shape || !tpu::check_topology(**known, *shape)) return out;
  out.labels.second = topology;
  out.slice_chips = shape->chips();
  out.host_chips = tpu::default_chips_per_host(**known, *shape);
  return out;
}

struct PoolNodes {
  std::int64_t all_chips = 0;
  std::int64_t used_chips = 0;
  bool is_used = false;
  bool is_draining = false;
  bool is_broken = false;
};

PoolState state_of_pool(const PoolNodes& pool, const Shape& shape) {
  if (pool.is_broken || pool.all_chips < shape.slice_chips) return PoolState::kBroken;
  if (pool.is_used) return PoolState::kInUse;
  return pool.is_draining ? PoolState::kDraining : PoolState::kFree;
}

}  // namespace

FleetCounts count_fleet(const std::vector<NodePtr>& nodes, const std::string& topology_key,
                        const std::function<bool(const NodeView&)>& is_used) {
  std::map<std::pair<std::string, std::string>, Shape> shapes;
  std::map<std::tuple<const Shape*, std::string>, PoolNodes> pools;
  for (const NodePtr& node : nodes) {
    const std::string& accelerator = accelerator_of(node->labels);
    if (accelerator.empty()) continue;
    const std::string& topology = value_of(node->labels, tpu::kTopologyLabel);
    const auto known = shapes.try_emplace({accelerator, topology});
    Shape& shape = known.first->second;
    if (known.second) shape = shape_of(accelerator, topology);
    const std::int64_t advertised = tpu::chips_of(*node);
    const std::int64_t chips = advertised > 0 ? advertised : shape.host_chips;
    const std::string& domain = domain_of_node(*node, topology_key);
    const bool is_alone = domain.empty() || chips >= shape.slice_chips;
    PoolNodes& pool = pools[{&shape, is_alone ? node->key.name : domain}];
    pool.all_chips += chips;
    if (is_used(*node)) {
      pool.is_used = true;
      pool.used_chips += chips;
    }
    pool.is_draining = pool.is_draining || node->unschedulable;
    pool.is_broken = pool.is_broken || !node->ready || advertised == 0 || node->deletion;
  }
  FleetCounts out;
  for (const auto& [key, pool] : pools) {
    const Shape& shape = *std::get<0>(key);
    const PoolState state = state_of_pool(pool, shape);
    ++out.pools[shape.labels].at(static_cast<std::size_t>(state));
    ByPoolState& chips = out.chips[shape.labels.first];
    chips.at(static_cast<std::size_t>(PoolState::kInUse)) += pool.used_chips;
    // No other slice gets the rest of a pool that is in use.
    chips.at(static_cast<std::size_t>(state)) += pool.all_chips - pool.used_chips;
  }
  return out;
}

}  // namespace tpuslice::placement
