// The notation of durations in Go: "1h30m", "1.5h", "90s".
#pragma once

#include <optional>
#include <string_view>

#include "api/base/clock.h"

namespace tpuslice::raycronjob {

/// Nothing for another text, a negative duration, or one above 100 years. Fractions are rounded down to nanoseconds.
[[nodiscard]] std::optional<Duration> parse_go_duration(std::string_view text);

}  // namespace tpuslice::raycronjob
