// Random RayServices and random disturbances of their worlds, from one seed.
#pragma once

#include <cstdint>

#include "tests/laws/laws.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {

class Generator final : public laws::Dice {
 public:
  explicit Generator(std::uint64_t seed) : Dice(seed) {}

  /// A world after some random plans, edits and disturbances.
  [[nodiscard]] World world();
  /// A change that a user may make: another image, serve configuration, number of replicas, group, strategy;
  /// suspension, of the clusters alone as well; an invalid spec.
  void edit(World& world);
  /// Dashboards fail, applications change their status, proxies move; pods, clusters and services are deleted or
  /// changed by others; slices find no nodes; the operator is restarted; Gateways are not served, not accepted, deleted
  /// or changed.
  void disturb(World& world);
  /// Ends what disturb() and edit() did that keeps a service from being ready.
  void heal(World& world);

 private:
  void change_answers(World& world);
  void change_objects(World& world);
  void change_gateways(World& world);
};

}  // namespace tpuslice::rayservice
