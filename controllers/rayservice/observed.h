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

/// The Gateway and the HTTPRoute with the names of the RayService's, of any owner; null without.
struct ObservedGateways {
  ObjectPtr gateway;
  ObjectPtr http_route;
  bool watched = false;  ///< False: the objects are unknown.
  bool absent = false;   ///< The Kubernetes cluster does not serve one of the types.
};

struct RayServiceObserved {
  Typed<RayServiceSpec> service;
  std::vector<ObjectPtr> clusters;  ///< RayClusters with `service` as controller owner, by uid.
  std::vector<PodPtr> pods;         ///< Pods with one of `clusters` as controller owner, by uid.
  /// Services with `service` as controller owner, and those of other owners with its names, or with the name of the
  /// serve service of one of `clusters`.
  std::vector<ObjectPtr> services;
  plan::WorkloadAnswers answers;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
  ObservedGateways gateways = {};
};

}  // namespace tpuslice::rayservice
