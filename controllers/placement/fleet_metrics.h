// FleetMetrics: pools, chips and waiting slices, as they are when they are scraped.
#pragma once

#include <string>
#include <utility>

#include "api/base/clock.h"
#include "api/base/series_writer.h"
#include "controllers/placement/accelerator_indexes.h"
#include "controllers/slice/indexes.h"

namespace tpuslice::placement {

/// Thread-safe. The stores outlive it.
class FleetMetrics {
 public:
  /// `topology_key`: the node label whose values are pools. Before the watches start.
  FleetMetrics(const runtime::PodStores& pods, runtime::NodeStore& nodes, slice::Indexes indexes,
               std::string topology_key)
      : nodes_(nodes),
        indexes_(std::move(indexes)),
        by_accelerator_(pods, nodes),
        topology_key_(std::move(topology_key)) {}

  /// Series by accelerator, topology and state: as many as the catalog has, whatever the cluster has.
  void write(SeriesWriter& out, Timestamp now) const;

 private:
  [[nodiscard]] bool is_used(const NodeView& node) const;
  /// How long the oldest of the gated slices has waited; zero without one.
  [[nodiscard]] Duration oldest_wait(const std::string& accelerator, Timestamp now) const;

  const runtime::NodeStore& nodes_;
  const slice::Indexes indexes_;
  const AcceleratorIndexes by_accelerator_;
  const std::string topology_key_;
};

}  // namespace tpuslice::placement
