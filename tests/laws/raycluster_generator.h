// Random RayClusters and random states of their children, from one seed.
#pragma once

#include <cstdint>
#include <random>

#include "tests/unit/controllers/raycluster/world.h"

namespace tpuslice::raycluster {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  /// A world in which anything may have happened: pods in any phase, missing, doubled, terminating, mislabelled or of
  /// another owner; services missing or drifted; suspension at any point.
  [[nodiscard]] World world();
  /// A change that a user may make to a spec: scale, resize, suspend, drop or add a group.
  void edit(World& world);
  /// Something that happens to a pod: it fails, is deleted, or is lost.
  void disturb(World& world);

  [[nodiscard]] int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  }

 private:
  [[nodiscard]] Json random_cluster();
  [[nodiscard]] Json random_group(int number);
  void add_replica(World& world, const std::string& group, int replica);
  void add_head(World& world);
  [[nodiscard]] Json distort(Json pod);

  std::mt19937_64 random_;
};

}  // namespace tpuslice::raycluster
