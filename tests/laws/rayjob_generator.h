// Random RayJobs and random disturbances of their worlds, from one seed.
#pragma once

#include <cstdint>
#include <string>

#include "tests/laws/laws.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {

class Generator final : public laws::Dice {
 public:
  explicit Generator(std::uint64_t seed) : Dice(seed) {}

  /// A world after some random plans, edits and disturbances.
  [[nodiscard]] World world();
  /// Of any submission mode, with or without retries, deadlines, suspension and deletion rules.
  [[nodiscard]] Json job();
  /// Random progress(), or none; time passes.
  void advance(World& world);
  /// A change that a user may make: suspension, retries, deadlines, cleanup, an invalid spec.
  void edit(World& world);
  /// Dashboards fail, Ray jobs change their status or are forgotten; heads and workers are lost; cluster and submitter
  /// are deleted or end early; objects of other owners take the names of children; the operator is restarted.
  void disturb(World& world);
  /// Ends what disturb() and edit() did that keeps a RayJob from finishing, and restarts the operator.
  void heal(World& world);

 private:
  void change_ray(World& world);
  void change_cluster(World& world);
  void change_children(World& world);
};

/// What happens by itself, at once: pods start and end, the submitter or the user submits the Ray job, and a running
/// one ends with the status `end` (empty: it goes on), then its submitter.
void progress(World& world, const std::string& end = "SUCCEEDED");

/// Ray's status of the present Ray job is a last one, whether or not the operator has seen it.
[[nodiscard]] bool has_ended_in_ray(const World& world);

}  // namespace tpuslice::rayjob
