// What the stores hold for placement, from the builders of slices and node pools (tests/support/slice/slices.h).
//
//   plan_placement(observed({a_pool("pool-a")}, {a_slice("train")}), {}).reason
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/domains/inventory.h"
#include "controllers/placement/placement_plan.h"
#include "tests/support/slice/slices.h"

namespace tpuslice::placement {

// The builders.
using slice::a_pod_without_slice;
using slice::a_pool;
using slice::a_slice;
using slice::after;
using slice::apply_plan;
using slice::cordoned;
using slice::kGkePool;
using slice::kRow;
using slice::kTpu7x;
using slice::kV5p;
using slice::kV6e;
using slice::NodeChange;
using slice::nodes_of;
using slice::not_ready;
using slice::PodChange;
using slice::pods_of;
using slice::pointers_to;
using slice::PoolBuilder;
using slice::read_slices;
using slice::SliceBuilder;
using slice::slices_of;
using slice::start_of_time;
using slice::unreadable;
using slice::with;
using slice::without_chips;

/// What the stores hold. Scouts are among the pods.
struct PlacementScene : PlacementObserved, ClusterState {};
/// The plan of the accelerator kV6e, or of another one, with a new cache.
[[nodiscard]] plan::Plan plan_placement(const PlacementScene& scene, const PlacementOptions& options,
                                        const std::string& accelerator = kV6e);

/// The cache of the accelerator kV6e with these nodes and pods.
struct SceneCache {
  AcceleratorCache cache{kV6e, {}};
  SceneCache(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods);
};
/// An inventory with a cache of its own.
struct SceneInventory : SceneCache, Inventory {
  SceneInventory(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods, Timestamp now = start_of_time())
      : SceneCache(nodes, pods), Inventory(cache, now) {}
};

/// The observation of the accelerator.
[[nodiscard]] PlacementScene observed(std::initializer_list<PoolBuilder> pools,
                                      std::initializer_list<SliceBuilder> slices,
                                      Duration now = std::chrono::seconds(5));

/// A scout for the slice default/<name>, created at start_of_time(), in the namespace of scout_options().
[[nodiscard]] PodPtr a_scout(const std::string& slice, const PodChange& change = {});
/// It has this node.
[[nodiscard]] PodPtr a_scout_on(const std::string& node, const std::string& slice);
/// Scouts in namespace tpu-system for each slice, whether there is an autoscaler or not.
[[nodiscard]] ScaleUpOptions scout_options();

/// The ConfigMap with this record of the accelerator kV6e.
[[nodiscard]] PreemptionState preemption_records(const std::string& record = {});

}  // namespace tpuslice::placement
