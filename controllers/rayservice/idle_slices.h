// Slices that a lower capacity of a cluster has left idle. Ray's autoscaler removes them after its idle time-out.
#pragma once

#include <optional>

#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

/// How long the autoscaler may still need to remove them; nothing if the cluster has none. `since`: when the traffic
/// left the cluster. It is bounded: a host without a Serve proxy may be in use.
[[nodiscard]] std::optional<Duration> until_shrunk(const RayServiceState& state, const Cluster& cluster,
                                                   const std::optional<Timestamp>& since, const Options& options);

}  // namespace tpuslice::rayservice
