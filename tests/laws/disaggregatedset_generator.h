// Random DisaggregatedSets and random disturbances of their worlds, from one seed.
#pragma once

#include <cstdint>

#include "tests/laws/laws.h"
#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {

class Generator final : public laws::Dice {
 public:
  explicit Generator(std::uint64_t seed) : Dice(seed) {}

  /// A world after some random plans, edits and disturbances.
  [[nodiscard]] World world();
  /// A change that a user or an autoscaler may make: another image, numbers of replicas and slices, limits of a
  /// rollout, a role that comes or goes, an External role, an invalid spec.
  void edit(World& world);
  /// Children are deleted or changed by others, replicas become unready, objects of other owners take names.
  void disturb(World& world);
  /// Ends what keeps a set from being available.
  void heal(World& world);
  /// What happens until the next plan: all of it, or a random part.
  void advance(World& world);

 private:
  void edit_roles(World& world);
};

}  // namespace tpuslice::disaggregatedset
