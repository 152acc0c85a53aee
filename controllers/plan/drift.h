// Drift: whether a live object has what the desired one says, and the patch that restores it.
#pragma once

#include "api/types/json.h"

namespace tpuslice::plan {

/// Whether `live` has every value of `desired`. Members that only `live` has do not count: the API server adds
/// defaults, and others add labels. An empty object in `desired` may be absent. Lists have equal length and order.
[[nodiscard]] bool has_all(const Json& live, const Json& desired);

/// The merge patch that gives `live` every value of `desired`; null if it has them all. A list that differs is replaced
/// as a whole.
[[nodiscard]] Json restore_patch(const Json& desired, const Json& live);

}  // namespace tpuslice::plan
