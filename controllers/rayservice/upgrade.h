// Upgrades: which RayCluster serves, and which one is to take its place.
//
// The active cluster is that of the status, or its pending one if the serve service selects that: the services are
// written before the status. A cluster fits a rayClusterConfig if it was made from it, or can be brought up to date in
// place: worker groups are added at the end, or another operator made it. If the active cluster does not fit, a pending
// cluster is made, unless upgradeStrategy.type is None. If it fits again, the pending cluster is given up. The first
// cluster is pending until it serves.
//
// A suspended cluster is not upgraded: see cluster_suspension.h.
// With NewClusterWithIncrementalUpgrade the services do not move at once, and a pending cluster that has traffic is not
// given up at once (incremental_upgrade.h).
//
// Both clusters have slices at the same time. kUpgradeWithoutRoom says what happens if there are no nodes for the
// slices of the new one.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayservice/config_hash.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

struct ClusterChoice {
  const Cluster* active = nullptr;   ///< Null if there is none, or it is deleted or terminating.
  const Cluster* pending = nullptr;  ///< The same.
  std::string active_name = {};      ///< For the status. Stays until another cluster is active.
  std::string pending_name = {};     ///< For the status.
  bool create = false;               ///< A cluster with the pending name is to be made.
  bool outdated = false;             ///< upgradeStrategy.type None: the newest cluster has another config.
  bool held = false;                 ///< The newest cluster has another config, and is suspended.
  bool rollback = false;             ///< Traffic and capacity go back to the active cluster.
  bool reverted = false;             ///< `rollback`, and the active cluster has the present config.
  bool waits_for_gateway = false;    ///< A cluster is made once Gateways and HTTPRoutes are watched.

  /// The newest cluster, which has, or is to get, the present specification; null until it is made. In a rollback the
  /// one that stays.
  [[nodiscard]] const Cluster* newest() const {
    if (rollback) return active;
    return pending != nullptr || create ? pending : active;
  }
  /// The newest cluster has, or gets, the present specification.
  [[nodiscard]] bool is_up_to_date() const {
    return !outdated && !held && !waits_for_gateway && (!rollback || reverted);
  }
};

[[nodiscard]] ClusterChoice choose_clusters(const RayServiceState& state, const ConfigHash& config);

/// The clusters of the status as they are: while the spec is refused.
[[nodiscard]] ClusterChoice present_clusters(const RayServiceState& state);

struct RoomDecision {
  Problem problem;       ///< For plan::kSlicesPlaced: of the newest cluster.
  bool replace = false;  ///< The active cluster is deleted, so that its nodes are free.
  std::optional<Duration> requeue_after;
};

[[nodiscard]] RoomDecision decide_room(const RayServiceState& state, const ClusterChoice& choice,
                                       const Options& options);

}  // namespace tpuslice::rayservice
