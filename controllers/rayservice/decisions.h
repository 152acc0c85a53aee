// Decisions: what a plan for a RayService does and reports, before it is rendered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/rayservice/cluster_builder.h"
#include "controllers/rayservice/gateway_decisions.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/retirement.h"
#include "controllers/rayservice/serve_goals.h"
#include "controllers/rayservice/serve_labels.h"
#include "controllers/rayservice/services.h"
#include "controllers/rayservice/serving.h"
#include "controllers/rayservice/suspension.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

/// The deletion of all clusters, of the Gateway and its route, and of the services.
struct Removal {
  std::string why;  ///< "the RayService is being suspended"
  std::vector<const Cluster*> clusters;
  std::vector<OwnGateway> gateways;
  std::vector<ObjectPtr> services;
};

/// What a RayService does that is neither being deleted, nor suspended, nor timed out.
struct RunningDecisions {
  bool add_finalizer = false;
  ClusterChoice choice;          ///< Before a promotion.
  std::optional<Object> create;  ///< A cluster.
  /// Time until a creation that failed is tried again. A plan with a failing write would send no requests, which the
  /// other clusters need.
  std::optional<Duration> create_after;
  ClusterUpdate update;  ///< Update of choice.newest().
  struct Suspension {
    const Cluster* cluster = nullptr;
    ClusterUpdate update;
  };
  std::vector<Suspension> suspensions;  ///< Clusters without `update` that rayClusterConfig.suspend suspends.
  bool suspended = false;               ///< choice.newest() is suspended after this plan.
  std::optional<Serving> active;        ///< What the clusters serve; nothing without such a cluster.
  std::optional<Serving> pending;
  ServeGoals goals;
  Split traffic;  ///< The wanted weights, of an incremental upgrade.
  /// Time until the traffic can move again.
  std::optional<Duration> traffic_after;
  GatewayDecision gateways;
  bool rollback_impossible = false;  ///< The active cluster was lost during an incremental upgrade.
  std::vector<ServeLabel> labels;
  std::vector<Service> services;
  bool promote = false;  ///< The services select the pending cluster from now on: it is active.
  RoomDecision room;
  RetirementDecision retirement;
  std::vector<plan::WorkloadRequest> requests;

  /// What the newest cluster serves; nothing without one.
  [[nodiscard]] const std::optional<Serving>& newest() const {
    return choice.newest() == choice.active ? active : pending;
  }
};

struct Decisions {
  Problem refusal;  ///< Why the spec is refused, for kAccepted.
  std::optional<Removal> removal;
  bool release = false;  ///< The finalizer is removed from the RayService, which is being deleted.
  // At most one of these:
  std::optional<SuspendPhase> suspension;  ///< A phase other than kRunning.
  std::optional<RunningDecisions> running;
};

/// The first that applies: a RayService that is being deleted removes its clusters and is released; it is suspended or
/// resumed; once its initializing timeout has passed, it removes its clusters; it runs. While the spec is refused,
/// clusters and services stay as they are, and what they serve is still observed.
[[nodiscard]] Decisions decide(const RayServiceState& state, const Problem& refusal, const ServeConfig& config,
                               const Options& options);

}  // namespace tpuslice::rayservice
