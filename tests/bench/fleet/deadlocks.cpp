#include "tests/bench/fleet/deadlocks.h"

#include <optional>

namespace tpuslice::fleet_bench {
namespace {

std::optional<HostRef> any_bound_host(const FleetRun& run, int job) {
  const std::vector<SliceRun>& slices = run.run(job).slices;
  for (std::size_t slice = 0; slice < slices.size(); ++slice) {
    for (std::size_t host = 0; host < slices[slice].nodes.size(); ++host) {
      if (slices[slice].nodes[host] >= 0) return HostRef{job, static_cast<int>(slice), static_cast<int>(host)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<HostRef> deadlocked_hosts(const FleetRun& run) {
  std::vector<std::vector<int>> by_group(static_cast<std::size_t>(run.fleet().groups));
  for (const int job : run.waiting()) {
    const JobRun& state = run.run(job);
    if (state.bound == 0 || run.now() < state.gained + kDeadlockTime) continue;
    by_group[run.fleet().shapes[run.job(job).shape].group].push_back(job);
  }
  std::vector<HostRef> out;
  for (const std::vector<int>& jobs : by_group) {
    if (jobs.size() < 2) continue;
    int youngest = jobs.front();
    for (const int job : jobs) {
      if (run.run(job).created >= run.run(youngest).created) youngest = job;
    }
    if (const auto host = any_bound_host(run, youngest)) out.push_back(*host);
  }
  return out;
}

}  // namespace tpuslice::fleet_bench
