// Waits that end early when a stop is requested.
#pragma once

#include <stop_token>

#include "api/base/clock.h"

namespace tpuslice {

/// Returns after `wait`, at most a day, or at once on stop.
void pause(Duration wait, const std::stop_token& stop);

/// Returns on stop.
void wait_for_stop(const std::stop_token& stop);

}  // namespace tpuslice
