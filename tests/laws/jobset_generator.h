// Random JobSets and random states of their children, from one seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {

class JobSetGenerator {
 public:
  explicit JobSetGenerator(std::uint64_t seed) : random_(seed) {}

  /// A world in which anything may have happened: Jobs in any state, of any attempt, missing, somebody else's, being
  /// deleted or mislabelled; the service missing, drifted or somebody else's; a status of any past.
  [[nodiscard]] World world();
  /// A change that a user may make: suspend, resume, scale an Indexed Job.
  void edit(World& world);
  /// What the Job controller and time do, in any order: Jobs go on, fail, complete, go.
  void go_on(World& world);

  [[nodiscard]] int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_() % i]);
  }

 private:
  [[nodiscard]] JobSetBuilder random_jobset();
  void add_job(JobSetBuilder& jobset, int number, bool dependencies);
  void add_policies(JobSetBuilder& jobset, int jobs);
  void add_past(World& world);
  void add_jobs(World& world);
  void add_resources(World& world);
  [[nodiscard]] JobChange random_state();
  void distort(World& world, const std::string& job, int restarts);

  std::mt19937_64 random_;
};

/// What the reconciler would find: only Jobs that the JobSet controls.
[[nodiscard]] JobSetObserved seen_in(const World& world);
/// As the API server; a create of what exists is refused, and known to the next plan.
void perform(const runtime::Action& action, World& world);
/// What the Job controller does when nothing goes wrong: Jobs that are being deleted, or are somebody else's, go, as
/// does such a service; suspended ones become quiet, the others ready. Time passes.
void calm_down(World& world);

}  // namespace tpuslice::jobset
