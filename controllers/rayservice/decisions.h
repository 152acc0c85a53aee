// Decisions: what a plan for a RayService that is not suspended does and reports, before it is rendered.
#pragma once

#include <optional>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/rayservice/cluster_builder.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/retirement.h"
#include "controllers/rayservice/room.h"
#include "controllers/rayservice/serve_labels.h"
#include "controllers/rayservice/services.h"
#include "controllers/rayservice/serving.h"
#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

struct Decisions {
  ClusterChoice choice;           ///< Before a promotion.
  std::optional<Object> create;   ///< A cluster.
  ClusterUpdate update;           ///< Update of choice.newest().
  std::optional<Serving> active;  ///< What the clusters serve; nothing without such a cluster.
  std::optional<Serving> pending;
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

/// While the spec is refused, clusters and services stay as they are, and what they serve is still observed.
[[nodiscard]] Decisions decide(const RayServiceState& state, const Problem& refusal, const ServeConfig& config,
                               const Options& options);

}  // namespace tpuslice::rayservice
