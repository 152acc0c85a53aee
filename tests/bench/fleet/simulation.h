// The simulation of a fleet in virtual time: jobs arrive and end, hosts are lost and repaired, and a policy decides
// which nodes the jobs get.
#pragma once

#include <string_view>

#include "tests/bench/fleet/outcome.h"
#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

/// `policy`: one of policy_names(). Equal arguments give equal outcomes, but for the CPU time.
[[nodiscard]] Outcome simulate(const Fleet& fleet, const Trace& trace, std::string_view policy,
                               const PolicyOptions& options);

}  // namespace tpuslice::fleet_bench
