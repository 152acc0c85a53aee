// Ages and durations as kubectl prints them.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// "45s", "3m20s", "17h", "12d": at most two units.
[[nodiscard]] std::string human_duration(Duration duration);

/// The time since the RFC 3339 time at a path; "<unknown>" if absent.
[[nodiscard]] std::string age_at(const Json& object, std::initializer_list<std::string_view> path, Timestamp now);

}  // namespace tpuslice::sim
