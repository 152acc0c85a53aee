// eventually(): waits in real time for what another thread or program does.
#pragma once

#include "api/base/clock.h"
#include "controllers/runtime/backoff.h"

namespace tpuslice::testing {

/// Asks until it is so; false after `limit`.
template <typename Condition>
[[nodiscard]] bool eventually(const Condition& condition, Duration limit = std::chrono::seconds(60)) {
  const RealClock clock;
  const Instant until = clock.now() + limit;
  while (!condition()) {
    if (clock.now() >= until) return false;
    runtime::pause(std::chrono::milliseconds(20), {});
  }
  return true;
}

}  // namespace tpuslice::testing
