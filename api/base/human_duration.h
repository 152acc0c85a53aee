// Durations as kubectl prints ages.
#pragma once

#include <string>

#include "api/base/clock.h"

namespace tpuslice {

/// "45s", "3m20s", "17h", "12d": at most two units.
[[nodiscard]] std::string human_duration(Duration duration);

}  // namespace tpuslice
