// Ages as kubectl prints them.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/base/human_duration.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// The time since the RFC 3339 time at a path; "<unknown>" if absent.
[[nodiscard]] std::string age_at(const Json& object, std::initializer_list<std::string_view> path, Timestamp now);

}  // namespace tpuslice::sim
