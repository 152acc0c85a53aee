#include "tests/bench/fleet/policies/by_name.h"

#include "tests/bench/fleet/policies/queue.h"

namespace tpuslice::fleet_bench {

void ByNamePolicy::plan() {
  FreeDomains free(run_);
  for (const int job : waiting_in_order(run_, Age::kOfPods)) {
    for (int slice = 0; slice < run_.job(job).slices; ++slice) {
      if (run_.run(job).slices[slice].bound > 0) continue;
      const std::optional<DomainId> domain = free.first(run_.job(job));
      if (!domain) break;
      bind_slice(run_, job, slice, *domain);
    }
  }
}

}  // namespace tpuslice::fleet_bench
