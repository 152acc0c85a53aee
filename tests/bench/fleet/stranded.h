// Stranded hosts: the fragmentation of a fleet.
#pragma once

#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

/// Number of usable, unused nodes that a waiting slice could use, were not others of their domain in use.
[[nodiscard]] int stranded_hosts(const FleetRun& run);

}  // namespace tpuslice::fleet_bench
