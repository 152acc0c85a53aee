// Deadlocks: half-placed jobs that wait for each other's domains.
#pragma once

#include <vector>

#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

/// Half-placed jobs whose shapes share nodes are deadlocked if at least two of them have got no node for this long.
inline constexpr Duration kDeadlockTime = std::chrono::hours(24);

/// For each deadlock a host of its youngest job. An administrator deletes its pod, since nothing else would end it.
[[nodiscard]] std::vector<HostRef> deadlocked_hosts(const FleetRun& run);

}  // namespace tpuslice::fleet_bench
