// Room for an upgrade: both clusters have their slices at a time. What happens if there are no nodes for those of the
// new one is the user's choice (kUpgradeWithoutRoom).
#pragma once

#include <optional>
#include <string>

#include "controllers/rayservice/options.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

struct RoomDecision {
  Problem problem;       ///< For tpu::kSlicesPlaced: of the newest cluster.
  bool replace = false;  ///< The active cluster is deleted, so that its nodes are free.
  std::optional<Duration> requeue_after;
};

[[nodiscard]] RoomDecision decide_room(const RayServiceState& state, const ClusterChoice& choice,
                                       const Options& options);

}  // namespace tpuslice::rayservice
