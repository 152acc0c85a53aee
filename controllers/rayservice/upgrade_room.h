// Room for an upgrade, in which both clusters have slices at the same time. kUpgradeWithoutRoom says what happens if
// there are no nodes for the slices of the new one.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

struct RoomDecision {
  Problem problem;       ///< For plan::kSlicesPlaced: of the newest cluster.
  bool replace = false;  ///< The active cluster is deleted, so that its nodes are free.
  std::optional<Duration> requeue_after;
};

[[nodiscard]] RoomDecision decide_room(const RayServiceState& state, const ClusterChoice& choice,
                                       const Options& options);

}  // namespace tpuslice::rayservice
