// The table that `make bench-scheduling` prints and docs/performance.md records.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/bench/scheduling/method.h"
#include "tests/bench/scheduling/scheduling_bench.h"

namespace tpuslice::bench {

/// For one number of nodes. Round i of each method was measured in the same run.
struct SizeMeasurements {
  int nodes = 0;
  int running = 0;  ///< Slices.
  std::map<Method, std::vector<Round>> rounds;
};

struct SchedulingMeasurements {
  int runs = 0;
  int slices = 0;
  Duration limit{};
  std::vector<SizeMeasurements> sizes;
};

/// Markdown: medians and, if runs differ, minimum and maximum.
[[nodiscard]] std::string to_table(const SchedulingMeasurements& measurements);

/// "312 pods/s, 200 slices whole", or the progress of an unfinished round.
[[nodiscard]] std::string outcome_of(const Round& round);

}  // namespace tpuslice::bench
