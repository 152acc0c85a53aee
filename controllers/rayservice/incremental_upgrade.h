// Incremental upgrades: upgradeStrategy.type NewClusterWithIncrementalUpgrade. Capacity and traffic move step by step.
//
// Both are percentages, and the status has them, as upstream. The capacity of a cluster is target_capacity of its Serve
// configuration: Serve runs that part of the replicas, and Ray's autoscaler adds and removes workers, slice by slice.
// The traffic is the weight of its serve service in the HTTPRoute. While both clusters exist:
//
// 1. The capacity of the new cluster is raised by maxSurgePercent, if the sum is at most 100.
// 2. Once its applications run again, the traffic moves to it by stepSizePercent every intervalSeconds, up to its
//    capacity.
// 3. The capacity of the old cluster is lowered by maxSurgePercent; then 1.
//
// In the end the old cluster has no capacity, and the new one is active. If rayClusterConfig changes meanwhile, the
// same happens in the other direction, and the new cluster is given up: a rollback.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayservice/config_hash.h"
#include "controllers/rayservice/rayservice_state.h"

namespace tpuslice::rayservice {

/// All capacity, or all traffic, in percent.
inline constexpr int kWhole = 100;

/// What the status has of a cluster; nothing where it has none.
struct Share {
  std::optional<int> capacity;        ///< targetCapacity
  std::optional<int> traffic;         ///< trafficRoutedPercent
  std::optional<Timestamp> migrated;  ///< lastTrafficMigratedTime
};
/// Returns the share of the cluster with this name. If the status was lost, the capacity is that of the configuration
/// that the cluster has accepted, and the traffic the weight in the HTTPRoute.
[[nodiscard]] Share share_of(const RayServiceState& state, const std::string& cluster);

/// Percentages of the active and of the pending cluster.
struct Split {
  int active = kWhole;
  int pending = 0;

  [[nodiscard]] int sum() const { return active + pending; }
  friend bool operator==(const Split&, const Split&) = default;
};

struct Progress {
  Split capacity;
  Split traffic;
};
/// Returns what both have; before the first step the active cluster has everything.
[[nodiscard]] Progress progress_of(const Share& active, const Share& pending);

/// The capacities of the next step; the present ones while traffic moves, or nothing is left to do. A capacity is not
/// lowered below the traffic of its cluster.
[[nodiscard]] Split next_capacity(const Progress& now, int max_surge, bool rollback);
/// The traffic of the next step; the present one if it has reached the capacity of the cluster to which it moves.
[[nodiscard]] Split next_traffic(const Progress& now, int step_size, bool rollback);

/// The pending cluster can become the active one.
[[nodiscard]] bool is_complete(const Progress& now);
/// The pending cluster can be given up. One without a ready head cannot be scaled down, and needs no traffic.
[[nodiscard]] bool is_rolled_back(const Progress& now, bool pending_head_ready);

/// Whether an upgrade from `active` to `pending` goes back: the config is again that of the active cluster, or a third
/// one. The hashes of another operator cannot be compared; then the specifications themselves are, and in doubt the
/// upgrade goes on as the status says.
[[nodiscard]] bool is_rolling_back(const RayServiceState& state, const Cluster& active, const Cluster& pending,
                                   const ConfigHash& config);

}  // namespace tpuslice::rayservice
