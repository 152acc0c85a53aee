// Trace: the jobs that are submitted to a fleet and the faults of its hosts, drawn from a seed. All policies get the
// same trace.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/bench/fleet/faults.h"
#include "tests/bench/fleet/fleet.h"
#include "tests/bench/fleet/jobs.h"

namespace tpuslice::fleet_bench {

struct TraceOptions {
  std::uint64_t seed = 1;
  double load = 0.9;  ///< Work that is submitted, as a part of what all chips could do.
  double faults = 1;  ///< Factor of all fault rates.
  int days = 28;      ///< That are measured.
};

struct Trace {
  Timestamp start;
  Timestamp measured_from;  ///< The fleet is empty at the start and fills until then.
  Timestamp end;
  std::vector<Job> jobs;      ///< By arrival.
  std::vector<Fault> faults;  ///< By time.
};

[[nodiscard]] Trace make_trace(const Fleet& fleet, const TraceOptions& options);

}  // namespace tpuslice::fleet_bench
