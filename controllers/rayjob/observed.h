// RayJobObserved: everything that the plan of a RayJob depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/plan/reconciler.h"
#include "controllers/plan/workload_request.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {

struct RayJobObserved {
  Typed<RayJobSpec> job;
  /// The cluster with the name of the status, or of spec.clusterSelector, of any owner; null without one.
  std::shared_ptr<const ObjectView> cluster;
  std::vector<std::shared_ptr<const PodView>> pods;  ///< Pods of the cluster of that name, also when it is deleted.
  /// The Job with the submitter's name, of any owner; null without one.
  std::shared_ptr<const JobView> submitter;
  std::vector<std::shared_ptr<const PodView>> submitter_pods;  ///< Pods that this Job controls.
  /// The service with the name of head_service_name(), of any owner; null without one.
  std::shared_ptr<const ObjectView> service;
  plan::WorkloadAnswers answers;  ///< Answers of the dashboard.
  Timestamp now;
  std::optional<plan::Failure> last_failure;
};

}  // namespace tpuslice::rayjob
