// The plan of a Fleet. Pure.
#pragma once

#include "controllers/plan/plan.h"
#include "tests/example_kind/fleet_options.h"
#include "tests/example_kind/observed.h"

namespace tpuslice::example {

/// Decides (decisions.h) and renders (render.h). Stages: deletes; service and ConfigMap; pods. The status is as
/// observed before these writes. Empty for a Fleet that is being deleted.
[[nodiscard]] plan::Plan plan_fleet(const FleetObserved& seen, const Options& options);

}  // namespace tpuslice::example
