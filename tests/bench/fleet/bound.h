// Bound: the useful work that no policy can exceed.
//
// Jobs are treated as fluid: a job could do no more than its hosts allow from its arrival on, and all hosts of a shape
// no more than those in domains whose nodes all are healthy. Work for which there is no capacity waits, and is done as
// soon as there is some, by any number of hosts. What is done by any time cannot be less than what a policy has done by
// then. Shapes that share nodes are bounded both one by one and together.
#pragma once

#include "tests/bench/fleet/outcome.h"

namespace tpuslice::fleet_bench {

/// Only the useful work and the samples are set; the latter hold the work as hosts that run.
[[nodiscard]] Outcome bound_of(const Fleet& fleet, const Trace& trace);

}  // namespace tpuslice::fleet_bench
