// Preconditions of writes, for the worlds that apply plans.
#pragma once

#include <string_view>

#include "api/base/result.h"
#include "controllers/plan/plan.h"

namespace tpuslice::plan {

[[nodiscard]] inline Error conflict(const Action& action, std::string_view why) {
  return Error::conflict("{} {}: {}", action.type.resource(), action.key.name, why);
}

/// Compares them with the live object as the API server does; a write without uid is refused, too.
[[nodiscard]] inline Status check_preconditions(const Action& action, std::string_view uid,
                                                std::string_view resource_version) {
  const Preconditions& needed = action.preconditions;
  if (needed.uid != uid) return conflict(action, "the uid differs");
  if (needed.resource_version.empty() || needed.resource_version == resource_version) return {};
  return conflict(action, "the object has been modified");
}

}  // namespace tpuslice::plan
