// Decisions: what a plan for a RayJob does, and the state that follows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/plan/workload_request.h"
#include "controllers/rayjob/attempt_cluster.h"
#include "controllers/rayjob/head_service.h"
#include "controllers/rayjob/submitter.h"

namespace tpuslice::rayjob {

/// What is done about the object, its children and the Ray job, as values.
struct Decisions {
  /// The next status. Its conditions are still those of the last one.
  RayJobStatus status;
  bool add_finalizer = false;
  ClusterDecision cluster = {};
  HeadServiceDecision service = {};
  SubmitterDecision submitter = {};
  bool delete_self = false;
  bool submitted = false;          ///< Ray has accepted the job over HTTP.
  std::string check_problem = {};  ///< Why the dashboard has not reported the job's status since now; empty otherwise.
  std::vector<plan::WorkloadRequest> requests = {};
  std::optional<Duration> requeue_after = {};
};

/// The state machine, with one function for each state (status.jobDeploymentStatus). A state changes by what was
/// observed, never by what the plan is about to do, so a plan that fails half-way is repeated in its state.
///
/// While the job runs, Ray's status decides how it ends. Before any limit of time counts, the dashboard is asked: after
/// a restart of the operator, the job may have ended meanwhile.
[[nodiscard]] Decisions decide(const RayJobState& state);

}  // namespace tpuslice::rayjob
