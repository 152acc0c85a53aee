// The head of the observed cluster, and its dashboard.
#pragma once

#include <optional>

#include "controllers/ray/dashboard.h"
#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

/// The head pod that is not terminating; null without one.
[[nodiscard]] const PodView* find_head(const RayJobObserved& seen);
/// Nothing without a usable cluster, or while its head has no address.
[[nodiscard]] std::optional<ray::Dashboard> find_dashboard(const RayJobState& state);

}  // namespace tpuslice::rayjob
