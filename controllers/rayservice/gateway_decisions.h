// What is done about the Gateway and the HTTPRoute of a RayService.
//
// With NewClusterWithIncrementalUpgrade they are created and restored; the Gateway at once, the route when a cluster is
// active. With another strategy they are deleted: nothing would keep the route up to date.
#pragma once

#include <optional>
#include <vector>

#include "controllers/rayservice/http_route.h"
#include "controllers/rayservice/incremental_upgrade.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

/// A live Gateway or HTTPRoute of ours.
struct OwnGateway {
  ResourceType type;
  const ObjectView* live = nullptr;
};
/// Returns those that are not terminating, the route first.
[[nodiscard]] std::vector<OwnGateway> own_gateways(const RayServiceState& state);

struct GatewayChild {
  ResourceType type;
  Object desired;
  plan::ChildDecision decision;
  plan::Preconditions preconditions = {};  ///< Preconditions of a patch.
};

struct GatewayDecision {
  std::vector<GatewayChild> children;
  std::vector<OwnGateway> deletes;
  /// Time until a write that was refused is tried again. Until then nothing else waits for it.
  std::optional<Duration> retry_after;
  Problem problem;              ///< For plan::kChildrenReady.
  bool routes_traffic = false;  ///< The live route is the desired one: the traffic in the status is that of the route.
};

/// Gateway and route are in effect, so that capacities may follow the traffic. `since`: when the traffic changed last.
/// A controller that does not report the present generation of the route has taken it over after the interval.
[[nodiscard]] bool is_in_effect(const RayServiceState& state, const std::optional<Timestamp>& since);

/// `active`: the cluster that is active from now on, or null. `traffic`: the wanted weights.
[[nodiscard]] GatewayDecision decide_gateways(const RayServiceState& state, const ClusterChoice& choice,
                                              const Cluster* active, const Split& traffic);

/// Whether the live route still has the cluster, which then is not deleted.
[[nodiscard]] bool is_routed_to(const RayServiceState& state, const Cluster& cluster);

}  // namespace tpuslice::rayservice
