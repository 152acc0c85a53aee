// The Serve configuration that each cluster of a RayService is to have.
//
// The newest cluster gets serveConfigV2. With NewClusterWithIncrementalUpgrade each has its own target_capacity, so a
// cluster with an earlier configuration gets that again when its capacity changes.
#pragma once

#include <optional>

#include "controllers/rayservice/incremental_upgrade.h"
#include "controllers/rayservice/serve_config.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

struct ServeGoal {
  std::optional<ServeConfig> config;  ///< Nothing: what the cluster serves is only observed.
  std::optional<int> before;          ///< targetCapacity until the configuration is accepted.
  std::optional<int> capacity;        ///< targetCapacity from then on.

  /// The capacity changes. Without a number it is 100.
  [[nodiscard]] bool is_step() const { return capacity.value_or(kWhole) != before.value_or(kWhole); }
};
struct ServeGoals {
  ServeGoal active;
  ServeGoal pending;
  std::optional<Duration> requeue_after;  ///< A raise waits at most so long for idle slices of the other cluster.
};

/// `config`: serveConfigV2. `may_step`: the Gateway and its route are in effect, so capacities may change. `since`:
/// when the traffic changed last.
[[nodiscard]] ServeGoals decide_serve_goals(const RayServiceState& state, const ClusterChoice& choice,
                                            const ServeConfig& config, bool may_step,
                                            const std::optional<Timestamp>& since, const Options& options);

}  // namespace tpuslice::rayservice
