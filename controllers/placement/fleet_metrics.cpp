#include "controllers/placement/fleet_metrics.h"

#include <algorithm>

#include "controllers/placement/fleet_counts.h"
#include "controllers/placement/slices.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"

namespace tpuslice::placement {

void FleetMetrics::write(SeriesWriter& out, Timestamp now) const {
  const FleetCounts counts =
      count_fleet(nodes_.list(), topology_key_, [this](const NodeView& node) { return is_used(node); });
  out.family("tpuslice_node_pools", "Node pools, by state. A single node counts as one where slices have one host.");
  for (const auto& [shape, by_state] : counts.pools) {
    for (std::size_t state = 0; state < kPoolStates.size(); ++state) {
      out.sample({{"accelerator", shape.first}, {"topology", shape.second}, {"state", kPoolStates.at(state)}},
                 static_cast<double>(by_state.at(state)));
    }
  }
  out.family("tpuslice_chips", "TPU chips of all nodes, by state.");
  for (const auto& [accelerator, by_state] : counts.chips) {
    for (std::size_t state = 0; state < kPoolStates.size(); ++state) {
      out.sample({{"accelerator", accelerator}, {"state", kPoolStates.at(state)}},
                 static_cast<double>(by_state.at(state)));
    }
  }
  out.family("tpuslice_oldest_wait_seconds",
             "How long the slice that has waited longest waits for nodes; 0 if none does.");
  for (const tpu::Accelerator& each : tpu::accelerators()) {
    const Duration wait = oldest_wait(std::string(each.label), now);
    out.sample({{"accelerator", each.label}}, std::chrono::duration<double>(wait).count());
  }
}

bool FleetMetrics::is_used(const NodeView& node) const {
  return std::ranges::any_of(indexes_.pods_by_node.lookup(node.key.name),
                             [](const PodPtr& pod) { return !pod->finished() && tpu::chips_of(*pod) > 0; });
}

Duration FleetMetrics::oldest_wait(const std::string& accelerator, Timestamp now) const {
  Timestamp oldest = now;
  for (const PodPtr& pod : by_accelerator_.waiting_pods.lookup(accelerator)) {
    if (is_live(*pod) && is_gated(*pod)) oldest = std::min(oldest, slice::queued_since(*pod));
  }
  return now - oldest;
}

}  // namespace tpuslice::placement
