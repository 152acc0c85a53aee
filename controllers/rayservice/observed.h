// RayServiceObserved: everything that the plan of a RayService depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/plan/reconciler.h"
#include "controllers/rayservice/rules/spec.h"

namespace tpuslice::rayservice {

using ObjectPtr = std::shared_ptr<const ObjectView>;
using PodPtr = std::shared_ptr<const PodView>;

struct RayServiceObserved {
  Typed<RayServiceSpec> service;
  std::vector<ObjectPtr> clusters;  ///< RayClusters with `service` as controller owner, by uid.
  std::vector<PodPtr> pods;         ///< Pods with one of `clusters` as controller owner, by uid.
  /// Services with `service` as controller owner, and those of other owners with its names.
  std::vector<ObjectPtr> services;
  plan::WorkloadAnswers answers;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::rayservice
