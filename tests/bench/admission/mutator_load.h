// The mutator alone: a review in, an answer out, no network.
#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"

namespace tpuslice::bench {

struct MutatorFigures {
  double rate = 0;  ///< Reviews answered in a second, by one thread.
  double cpu = 0;   ///< CPU seconds for 1,000 of them.
};

[[nodiscard]] MutatorFigures measure_mutator(const std::vector<std::string>& bodies, Duration time);

}  // namespace tpuslice::bench
