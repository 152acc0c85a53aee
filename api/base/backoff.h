// exponential_backoff(): how long to wait after failures in a row.
#pragma once

#include <algorithm>

#include "api/base/clock.h"

namespace tpuslice {

/// `first` after one failure, doubled for each further one, at most `max`; zero without a failure.
[[nodiscard]] constexpr Duration exponential_backoff(int failures, Duration first, Duration max) {
  if (failures <= 0) return Duration::zero();
  Duration wait = first;
  for (int i = 1; i < failures && wait < max; ++i) wait *= 2;
  return std::min(wait, max);
}

}  // namespace tpuslice
