// Random LeaderWorkerSets, edits and faults, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/support/leaderworkerset/world.h"

namespace tpuslice::leaderworkerset {

class LeaderWorkerSetGenerator final : public laws::Dice {
 public:
  explicit LeaderWorkerSetGenerator(std::uint64_t seed) : Dice(seed) {}

  /// A set of any shape and policy, without children.
  [[nodiscard]] World world();
  /// A user's change: image, size, replicas or rollout.
  void edit(World& world);
  /// A fault: pods fail, restart or are deleted; children are deleted, changed, repeated, or get another owner.
  void inject_fault(World& world);
  /// A random step of the other controllers.
  void step(World& world);

 private:
  [[nodiscard]] Json random_rollout(int replicas);
  [[nodiscard]] Json* any_of(World::Objects& objects);
  void inject_pod_fault(World& world);
  void inject_child_fault(World& world);
  /// Adds a revision with the data of another one and a key of its own.
  void repeat_revision(World& world);
};

}  // namespace tpuslice::leaderworkerset
