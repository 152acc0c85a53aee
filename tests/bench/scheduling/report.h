// The table that `make bench-scheduling` prints and docs/performance.md keeps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/bench/scheduling/scheduling_bench.h"
#include "tests/bench/scheduling/way.h"

namespace tpuslice::bench {

/// At one number of nodes. Round i of each way was measured in the same run.
struct SizeMeasurements {
  int nodes = 0;
  int running = 0;  ///< Slices.
  std::map<Way, std::vector<Round>> rounds;
};

struct SchedulingMeasurements {
  int runs = 0;
  int slices = 0;
  Duration limit{};
  std::vector<SizeMeasurements> sizes;
};

/// Markdown: medians, and the least and most where runs differ.
[[nodiscard]] std::string to_table(const SchedulingMeasurements& measurements);

/// "312 pods/s, 200 slices whole", or how far a round came that did not finish.
[[nodiscard]] std::string outcome_of(const Round& round);

}  // namespace tpuslice::bench
