// Ages and durations as kubectl prints them.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// "45s", "3m20s", "17h", "12d": two units at most, and only one for what is long.
[[nodiscard]] std::string human_duration(Duration duration);

/// Since the RFC 3339 time at a path: "<unknown>" where there is none.
[[nodiscard]] std::string age_at(const Json& object, std::initializer_list<std::string_view> path, Timestamp now);

}  // namespace tpuslice::sim
