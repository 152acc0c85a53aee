// Leader: one replica of the slice controllers. It observes the world with delay, plans as the reconcilers do, and
// makes one write at a time, so that anything can happen between two writes, including its crash.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controllers/placement/accelerator_cache.h"
#include "controllers/placement/placement_plan.h"
#include "controllers/plan/failed_writes.h"
#include "controllers/slice/node_health.h"
#include "controllers/slice/slice_plan.h"
#include "tests/sim/slices/remembered.h"
#include "tests/sim/slices/world.h"

namespace tpuslice::testing {

struct LeaderOptions {
  placement::PlacementOptions of_placement = {};
  slice::Options of_slices = {};
};

class Leader {
 public:
  /// Starts with a list of the current objects. `remembered` outlives it.
  Leader(World& world, const RememberedChanges& remembered, std::string name, LeaderOptions options);

  /// Receives up to `max_changes` more watch events.
  void observe(std::size_t max_changes);
  /// Makes the next write, or plans a key. False if there is nothing to do.
  bool act(World& world);
  /// All events are received and there is nothing to do.
  [[nodiscard]] bool idle(const World& world) const;
  /// Some writes of a plan are left.
  [[nodiscard]] bool in_plan() const { return !stages_.empty(); }
  [[nodiscard]] std::int64_t writes() const { return writes_; }
  /// The version of the world that the plan under way is based on.
  [[nodiscard]] std::uint64_t planned() const { return planned_; }

 private:
  void plan_next(World& world);
  [[nodiscard]] plan::Plan plan_slice(const World& world, const std::string& name) const;
  /// So many nodes are not Ready that no slice is torn down for one.
  [[nodiscard]] bool is_disrupted() const;
  [[nodiscard]] plan::Plan plan(const World& world, const std::string& key);
  [[nodiscard]] plan::Plan plan_placement(const World& world);
  void queue_all();
  void add_to_changed(const PodView& pod);
  [[nodiscard]] std::vector<PodPtr> pods_where(const std::function<bool(const PodView&)>& condition) const;

  const std::string name_;
  const LeaderOptions options_;
  const World& world_;
  const RememberedChanges& remembered_;
  std::size_t seen_ = 0;  ///< Of world.changes().
  std::map<ObjectKey, PodPtr> pods_;
  std::map<std::string, NodePtr> nodes_;
  slice::NodeHealth health_;
  placement::AcceleratorCache cache_;
  // Since the last plan of the accelerator.
  std::set<std::string> changed_nodes_;
  std::set<ObjectKey> changed_slices_;
  std::set<ObjectKey> slices_with_places_;  ///< In the last plan of the accelerator.
  RecordsPtr preemption_records_;
  std::set<std::string> preempted_;               ///< Slices that the plan under way has ended.
  std::set<std::string> queue_;                   ///< Names of slices, and kAccelerator.
  std::map<std::string, std::uint64_t> written_;  ///< The version each key waits to see.
  std::map<std::string, Timestamp> due_;
  plan::FailedWrites failed_writes_;
  std::uint64_t planned_ = 0;
  std::string current_;  ///< The key whose plan is under way.
  std::deque<plan::Stage> stages_;
  std::int64_t writes_ = 0;
};

}  // namespace tpuslice::testing
