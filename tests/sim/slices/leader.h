// Leader: one replica of the slice controller. It sees the world late, plans as the reconcilers do, and carries out one
// write at a time, so that anything may happen between two writes, its own death among it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "controllers/slice/placement_plan.h"
#include "controllers/slice/slice_plan.h"
#include "tests/sim/slices/world.h"

namespace tpuslice::testing {

class Leader {
 public:
  /// Begins with a list: what it sees is what is now.
  Leader(World& world, std::string name, slice::Options options);

  /// Learns of up to `most` more changes.
  void see(std::size_t most);
  /// Carries out the next write, or plans a key. False if there is nothing to do until something changes.
  bool act(World& world);
  /// Has seen everything and has nothing to do.
  [[nodiscard]] bool idle(const World& world) const;
  [[nodiscard]] std::int64_t writes() const { return writes_; }

 private:
  void plan_next(World& world);
  [[nodiscard]] runtime::Plan plan(const World& world, const std::string& key) const;
  void queue_all();

  const std::string name_;
  const slice::Options options_;
  const World& world_;
  std::size_t seen_ = 0;  ///< Of world.changes().
  std::map<ObjectKey, PodPtr> pods_;
  std::map<std::string, NodePtr> nodes_;
  std::set<std::string> queue_;                   ///< Names of slices, and kAccelerator.
  std::map<std::string, std::uint64_t> written_;  ///< The version each key waits to see.
  std::map<std::string, Timestamp> due_;
  std::string current_;  ///< The key whose plan is under way.
  std::deque<std::vector<runtime::Action>> stages_;
  bool independent_ = false;
  std::int64_t writes_ = 0;
};

}  // namespace tpuslice::testing
