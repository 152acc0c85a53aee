// Random LeaderWorkerSets, what becomes of their children and what users do to them, from one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/laws/leaderworkerset_world.h"

namespace tpuslice::leaderworkerset {

class LeaderWorkerSetGenerator {
 public:
  explicit LeaderWorkerSetGenerator(std::uint64_t seed) : random_(seed) {}

  /// A set of any shape and policy. Nothing of it is there yet.
  [[nodiscard]] SetWorld world();
  /// A change that a user may make: another image, size or number of groups, another rollout.
  void edit(SetWorld& world);
  /// Something goes wrong: pods fail, are restarted, lost or evicted; children are gone, changed, or somebody else's.
  void distort(SetWorld& world);
  /// What the other controllers and time do, in part.
  void go_on(SetWorld& world);

  [[nodiscard]] int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  }

 private:
  [[nodiscard]] Json random_rollout(int replicas);
  [[nodiscard]] Json* any_of(SetWorld::Objects& objects);
  void distort_pod(SetWorld& world);
  void distort_child(SetWorld& world);

  std::mt19937_64 random_;
};

}  // namespace tpuslice::leaderworkerset
