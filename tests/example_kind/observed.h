// FleetObserved: everything that the plan of a Fleet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/plan/reconciler.h"
#include "tests/example_kind/config_map_view.h"
#include "tests/example_kind/rules/spec.h"

namespace tpuslice::example {

using PodPtr = std::shared_ptr<const PodView>;

struct FleetObserved {
  Typed<FleetSpec> fleet;
  std::vector<PodPtr> pods;  ///< With `fleet` as controller owner.
  /// The service with the name of the Fleet and the ConfigMap with that of its flag, owned or not; null if there is
  /// none.
  std::shared_ptr<const ServiceView> service;
  std::shared_ptr<const ConfigMapView> flag;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::example
