// RayServiceState: what the policies of a RayService decide from, derived from one observation.
#pragma once

#include "api/types/conditions.h"
#include "controllers/plan/plan.h"
#include "controllers/rayservice/clusters.h"
#include "controllers/rayservice/observed.h"
#include "controllers/rayservice/rules/spec.h"

namespace tpuslice::rayservice {

/// Borrows from the observation.
struct RayServiceState {
  explicit RayServiceState(const RayServiceObserved& observed)
      : seen(observed), spec(observed.service.spec()), status(plan::status_of(observed.service)), clusters(observed) {}

  [[nodiscard]] const Json& conditions() const { return array_at(status, {"conditions"}); }
  [[nodiscard]] std::string active_name() const { return string_at(status, {"activeServiceStatus", "rayClusterName"}); }
  [[nodiscard]] std::string pending_name() const {
    return string_at(status, {"pendingServiceStatus", "rayClusterName"});
  }

  const RayServiceObserved& seen;
  const RayServiceSpec& spec;
  const Json status;  ///< The status as observed, before this plan.
  const Clusters clusters;
};

}  // namespace tpuslice::rayservice
