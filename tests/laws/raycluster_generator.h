// Random RayClusters and random states of their children, from one seed.
#pragma once

#include <cstdint>

#include "tests/laws/laws.h"
#include "tests/support/raycluster/world.h"

namespace tpuslice::raycluster {

class Generator final : public laws::Dice {
 public:
  explicit Generator(std::uint64_t seed) : Dice(seed) {}

  /// A random world: pods in any phase, missing, duplicate, terminating, with wrong labels or of another owner;
  /// services and other children missing, drifted or without owner; suspension in any phase; upgrades of either kind;
  /// autoscaling; pods without owner.
  [[nodiscard]] World world();
  /// A change that a user may make to a spec: scale, resize, suspend, drop or add a group, change a template.
  void edit(World& world);
  /// A random pod terminates or is deleted.
  void disturb(World& world);

 private:
  [[nodiscard]] Json random_cluster();
  [[nodiscard]] Json random_group(int number);
  void add_replica(World& world, const std::string& group, int replica);
  void add_head(World& world);
  [[nodiscard]] Json distort(Json pod);
};

}  // namespace tpuslice::raycluster
