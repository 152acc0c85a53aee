// Admission without network.
#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"

namespace tpuslice::bench {

struct MutatorFigures {
  double rate = 0;  ///< Reviews per second of one thread.
  double cpu = 0;   ///< CPU seconds per 1,000 reviews.
};

[[nodiscard]] MutatorFigures measure_mutator(const std::vector<std::string>& bodies, Duration time);

}  // namespace tpuslice::bench
