// Random JobSets and random states of their children, from one seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/laws/laws.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {

class JobSetGenerator final : public laws::Dice {
 public:
  explicit JobSetGenerator(std::uint64_t seed) : Dice(seed) {}

  /// A world in which anything may have happened: Jobs in any state, of any attempt, missing, somebody else's, being
  /// deleted or mislabelled; the service missing, drifted or somebody else's; a status of any past.
  [[nodiscard]] World world();
  /// A change that a user may make: suspend, resume, scale an Indexed Job.
  void edit(World& world);
  /// What the Job controller and time do, in any order: Jobs go on, fail, complete, go.
  void go_on(World& world);

 private:
  [[nodiscard]] JobSetBuilder random_jobset();
  void add_job(JobSetBuilder& jobset, int number, bool dependencies);
  void add_policies(JobSetBuilder& jobset, int jobs);
  void add_past(World& world);
  void add_jobs(World& world);
  void add_resources(World& world);
  [[nodiscard]] JobChange random_state();
  void distort(World& world, const std::string& job, int restarts);
};

/// What the reconciler would find: only Jobs that the JobSet controls.
[[nodiscard]] JobSetObserved seen_in(const World& world);
/// As the API server; a create of what exists is refused, and known to the next plan.
void perform(const runtime::Action& action, World& world);
/// What the Job controller does when nothing goes wrong: Jobs that are being deleted, or are somebody else's, go, as
/// does such a service; suspended ones become quiet, the others ready. Time passes.
void calm_down(World& world);

}  // namespace tpuslice::jobset
