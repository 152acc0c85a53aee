// Random JobSets and random states of their children, from one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {

class JobSetGenerator final : public laws::Dice {
 public:
  explicit JobSetGenerator(std::uint64_t seed) : Dice(seed) {}

  /// A random world: Jobs in any state and of any attempt, missing, not owned, terminating or mislabelled; the service
  /// missing, drifted or not owned; any status.
  [[nodiscard]] World world();
  /// A change that a user may make: suspend, resume, scale an Indexed Job, other resources while suspended.
  void edit(World& world);
  /// Random progress of Jobs: they run, fail, complete, are deleted.
  void advance(World& world);

 private:
  [[nodiscard]] JobSetBuilder random_jobset();
  void add_job(JobSetBuilder& jobset, int number, bool dependencies);
  void add_policies(JobSetBuilder& jobset, int jobs);
  [[nodiscard]] Json random_scheduling(const JobSetBuilder& jobset);
  void add_status(World& world);
  void add_jobs(World& world);
  void add_resources(World& world);
  [[nodiscard]] JobChange random_state();
  void distort(World& world, const std::string& job, int restarts);
};

/// Progress without failures: terminating and unowned Jobs and services are removed; suspended Jobs get their
/// condition, the others become ready. Time passes.
void settle_children(World& world);

}  // namespace tpuslice::jobset
