// BestFitPolicy: all slices of a job or none, each in the domain that leaves the least free nodes around it. This is
// Kueue's topology-aware scheduling as far as it is documented:
//
// - The queue is ordered by priority and the creation of the workload, which a restart does not change. A workload that
//   does not fit is skipped (BestEffortFIFO), and nothing is reserved for it.
// - Reserved capacity is tried before spot, as flavors are ordered.
// - Of the domains that fit, that in the node pool with the fewest free nodes is taken (BestFit).
// - Workloads of lower priority are preempted if that makes room for the whole job, within a budget for comparison with
//   this operator.
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <vector>

#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

class BestFitPolicy final : public Policy {
 public:
  BestFitPolicy(FleetRun& run, std::size_t preemptions_per_hour)
      : Policy(run), preemptions_per_hour_(preemptions_per_hour) {}
  void plan() override;

 private:
  /// Stops jobs of lower priority so that `job` gets the domains that it lacks, all or none.
  void preempt(int job, std::size_t free);
  /// The jobs that use the domain, or nothing if the job may not take it from them.
  [[nodiscard]] std::set<int> victims(const Job& job, DomainId domain) const;
  [[nodiscard]] bool is_ending(DomainId domain) const;
  [[nodiscard]] std::size_t budget();

  const std::size_t preemptions_per_hour_;
  std::deque<Timestamp> preempted_;  ///< Those within the last hour.
};

}  // namespace tpuslice::fleet_bench
