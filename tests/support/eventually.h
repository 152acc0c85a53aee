// eventually(): waits in real time for a condition.
#pragma once

#include <algorithm>

#include "api/base/clock.h"
#include "api/base/pause.h"

namespace tpuslice::testing {

/// Polls until `condition` is true, first every 20 ms, later every 300 ms; returns false after `limit`.
template <typename Condition>
[[nodiscard]] bool eventually(const Condition& condition, Duration limit = std::chrono::seconds(60)) {
  const RealClock clock;
  const Instant until = clock.now() + limit;
  Duration interval = std::chrono::milliseconds(20);
  while (!condition()) {
    if (clock.now() >= until) return false;
    tpuslice::pause(interval, {});
    interval = std::min<Duration>(interval * 3 / 2, std::chrono::milliseconds(300));
  }
  return true;
}

}  // namespace tpuslice::testing
