// Random LeaderWorkerSets, what becomes of their children and what users do to them, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/laws/leaderworkerset_world.h"

namespace tpuslice::leaderworkerset {

class LeaderWorkerSetGenerator final : public laws::Dice {
 public:
  explicit LeaderWorkerSetGenerator(std::uint64_t seed) : Dice(seed) {}

  /// A set of any shape and policy. Nothing of it is there yet.
  [[nodiscard]] SetWorld world();
  /// A change that a user may make: another image, size or number of groups, another rollout.
  void edit(SetWorld& world);
  /// Something goes wrong: pods fail, are restarted, lost or evicted; children are gone, changed, or somebody else's.
  void distort(SetWorld& world);
  /// What the other controllers and time do, in part.
  void go_on(SetWorld& world);

 private:
  [[nodiscard]] Json random_rollout(int replicas);
  [[nodiscard]] Json* any_of(SetWorld::Objects& objects);
  void distort_pod(SetWorld& world);
  void distort_child(SetWorld& world);
};

}  // namespace tpuslice::leaderworkerset
