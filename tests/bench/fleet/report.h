// The tables that `make bench-fleet` prints, and the same figures as JSON for plot.py.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"
#include "tests/bench/fleet/outcome.h"
#include "tests/bench/fleet/policy.h"

namespace tpuslice::fleet_bench {

/// What was simulated.
struct Setup {
  TraceOptions trace;
  PolicyOptions policy;
};

/// Markdown. The same for equal setups. The bound is the last outcome if there is one.
[[nodiscard]] std::string to_table(const Setup& setup, const Fleet& fleet, const Trace& trace,
                                   const std::vector<Outcome>& outcomes);

[[nodiscard]] Json to_json(const Setup& setup, const Fleet& fleet, const Trace& trace,
                           const std::vector<Outcome>& outcomes);

}  // namespace tpuslice::fleet_bench
