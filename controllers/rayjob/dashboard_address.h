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
/// The request that stops the Ray job; nothing without a dashboard. It is repeated, since a request may get no answer,
/// and stopping twice does no harm.
[[nodiscard]] std::optional<plan::WorkloadRequest> stop_request(const RayJobState& state);

}  // namespace tpuslice::rayjob
