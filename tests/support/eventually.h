// eventually(): waits in real time for a condition.
#pragma once

#include "api/base/clock.h"
#include "api/base/pause.h"

namespace tpuslice::testing {

/// Polls until `condition` is true; returns false after `limit`.
template <typename Condition>
[[nodiscard]] bool eventually(const Condition& condition, Duration limit = std::chrono::seconds(60)) {
  const RealClock clock;
  const Instant until = clock.now() + limit;
  while (!condition()) {
    if (clock.now() >= until) return false;
    tpuslice::pause(std::chrono::milliseconds(20), {});
  }
  return true;
}

}  // namespace tpuslice::testing
