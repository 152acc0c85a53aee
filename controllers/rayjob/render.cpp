#include "controllers/rayjob/render.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/changes.h"
#include "controllers/plan/finalizers.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/limits.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

using plan::Action;
using plan::Changes;
using plan::EventText;
using plan::EventType;

/// The stages of a plan.
enum class Step : std::uint8_t { kFinalizer, kDeletes, kService, kCluster, kSubmitter, kSelf };

void add(Step step, Action action, std::string_view failure_reason, EventText success, EventText failure,
         Changes& changes) {
  action.failure_reason = failure_reason;
  changes.add(step, std::move(action), plan::result_events(std::move(success), std::move(failure)));
}

void patch_finalizers(Action patch, std::string why, Changes& changes) {
  changes.add(Step::kFinalizer, std::move(patch),
              {.on_failure = {{EventType::kWarning, "FailedToUpdateFinalizer", std::string(plan::kReconciling),
                               fmt::format("Failed to update finalizer {}", kStopFinalizer)}}});
  changes.reasons.push_back(std::move(why));
}

void add_finalizer(const RayJobState& state, Changes& changes) {
  patch_finalizers(plan::add_finalizer(kRayJobs, state.seen.job, kStopFinalizer),
                   "adding the finalizer that stops the Ray job when the RayJob is deleted", changes);
}

void remove_finalizer(const RayJobState& state, std::string why, Changes& changes) {
  patch_finalizers(plan::remove_finalizer(kRayJobs, state.seen.job, kStopFinalizer), std::move(why), changes);
}

/// Why children are deleted.
std::string_view why_deleted(const RayJobState& state) {
  if (state.status.finished()) return "the RayJob has finished";
  return state.status.deployment == kRetrying ? "the attempt failed, and is retried" : "the RayJob is suspended";
}

void create_cluster(const Object& desired, Changes& changes) {
  const std::string name = desired.key().to_string();
  changes.reasons.push_back(fmt::format("RayCluster {} is missing: creating it", name));
  add(Step::kCluster, Action::create(raycluster::kRayClusters, desired), kFailedRayCluster,
      {"CreatedRayCluster", fmt::format("Created RayCluster {}", name)},
      {"FailedToCreateRayCluster", fmt::format("Failed to create RayCluster {}", name)}, changes);
}

void suspend_workers(const RayJobState& state, const Json& workers, Changes& changes) {
  const ObjectView& live = *state.seen.cluster;
  const std::string name = live.key.to_string();
  changes.reasons.push_back(fmt::format("the RayJob has finished: suspending the workers of RayCluster {}", name));
  // A merge patch replaces the list, so the cluster must be as observed.
  add(Step::kCluster,
      Action::patch(raycluster::kRayClusters, live.key, {{"spec", {{"workerGroupSpecs", workers}}}},
                    {.uid = live.uid, .resource_version = live.resource_version}),
      kFailedRayCluster,
      {"UpdatedRayCluster", fmt::format("Set the `suspend` field to true for all worker groups in cluster {}", name)},
      {"FailedToUpdateRayCluster", fmt::format("Failed to suspend worker groups in cluster {}", name)}, changes);
}

void delete_cluster(const RayJobState& state, Changes& changes) {
  const ObjectView& live = *state.seen.cluster;
  const std::string name = live.key.to_string();
  changes.reasons.push_back(fmt::format("deleting RayCluster {}: {}", name, why_deleted(state)));
  add(Step::kDeletes, Action::remove(raycluster::kRayClusters, live.key, {.uid = live.uid}), kFailedRayCluster,
      {"DeletedRayCluster", fmt::format("Deleted cluster {}", name)},
      {"FailedToDeleteRayCluster", fmt::format("Failed to delete cluster {}", name)}, changes);
}

void render_cluster(const RayJobState& state, const ClusterDecision& decision, Changes& changes) {
  const std::string& problem = decision.problem.message;
  switch (decision.kind) {
    case ClusterDecision::Kind::kCreate:
      return create_cluster(decision.desired, changes);
    case ClusterDecision::Kind::kConflict:
      changes.reasons.push_back(problem);
      return;
    case ClusterDecision::Kind::kNotFound:
      if (state.status.message != problem) changes.event(EventType::kWarning, "RayClusterNotFound", problem);
      return;
    case ClusterDecision::Kind::kLostWorkers:
      changes.event(EventType::kWarning, kWorkersLost, problem);
      changes.reasons.push_back(problem);
      return;
    case ClusterDecision::Kind::kSuspendWorkers:
      return suspend_workers(state, decision.workers, changes);
    case ClusterDecision::Kind::kDelete:
      return delete_cluster(state, changes);
    case ClusterDecision::Kind::kNone:
    case ClusterDecision::Kind::kReady:
      return;
  }
}

void render_service(const RayJobState& state, const HeadServiceDecision& decision, Changes& changes) {
  const ObjectKey key = decision.desired.key();
  const std::string name = key.to_string();
  if (decision.child.kind == plan::ChildDecision::Kind::kCreate) {
    changes.reasons.push_back(fmt::format("service {} is missing: creating it", name));
    add(Step::kService, Action::create(kServices, decision.desired), kFailedService,
        {"CreatedService", fmt::format("Created the service {}", name)},
        {"FailedToCreateService", fmt::format("Failed to create the service {}", name)}, changes);
  } else if (decision.child.kind == plan::ChildDecision::Kind::kPatch) {
    changes.reasons.push_back(
        fmt::format("service {} does not select the head of {}: updating it", name, state.seen.cluster->key.name));
    add(Step::kService, Action::patch(kServices, key, decision.child.patch, {.uid = state.seen.service->uid}),
        kFailedService, {"UpdatedService", fmt::format("Updated the service {}", name)},
        {"FailedToUpdateService", fmt::format("Failed to update the service {}", name)}, changes);
  }
}

void create_submitter(const Object& desired, Changes& changes) {
  const std::string name = desired.key().to_string();
  changes.reasons.push_back(fmt::format("job {} is missing: creating it, to submit the Ray job", name));
  add(Step::kSubmitter, Action::create(kJobs, desired), kFailedSubmitter,
      {"CreatedRayJobSubmitter", fmt::format("Created Kubernetes Job {}", name)},
      {"FailedToCreateRayJobSubmitter", fmt::format("Failed to create Kubernetes Job {}", name)}, changes);
}

void delete_submitter(const RayJobState& state, Changes& changes) {
  const JobView& job = *state.seen.submitter;
  Action action = Action::remove(kJobs, job.key, {.uid = job.uid});
  action.propagation = plan::Propagation::kBackground;
  const std::string name = job.key.to_string();
  changes.reasons.push_back(fmt::format("deleting job {}: {}", name, why_deleted(state)));
  add(Step::kDeletes, std::move(action), kFailedSubmitter,
      {"DeletedRayJobSubmitter", fmt::format("Deleted submitter K8s Job {}", name)},
      {"FailedToDeleteRayJobSubmitter", fmt::format("Failed to delete submitter K8s Job {}", name)}, changes);
}

void render_submitter(const RayJobState& state, const SubmitterDecision& decision, Changes& changes) {
  switch (decision.kind) {
    case SubmitterDecision::Kind::kCreate:
      return create_submitter(decision.desired, changes);
    case SubmitterDecision::Kind::kConflict:
      changes.reasons.push_back(decision.problem.message);
      return;
    case SubmitterDecision::Kind::kDelete:
      return delete_submitter(state, changes);
    case SubmitterDecision::Kind::kNone:
    case SubmitterDecision::Kind::kExists:
      return;
  }
}

void delete_self(const RayJobState& state, Changes& changes) {
  Action action = Action::remove(kRayJobs, state.spec.key, {.uid = state.spec.uid});
  action.failure_reason = kFailedDeleteSelf;
  changes.add(Step::kSelf, std::move(action));
  changes.reasons.emplace_back("the RayJob has finished, and its deletion rule is due: deleting it");
}

void render_failure(const RayJobState& state, const RayJobStatus& next, Changes& changes) {
  std::string_view cause = next.message.empty() ? std::string_view("no message") : std::string_view(next.message);
  while (cause.ends_with('.')) cause.remove_suffix(1);
  std::string text = fmt::format("{}: {}; {}", next.reason, cause, describe_retry(state, next.reason));
  changes.event(EventType::kWarning, next.deployment, text);
  changes.reasons.push_back(std::move(text));
}

/// The state changes: what the events and the reason say of it.
void render_transition(const RayJobState& state, const RayJobStatus& next, Changes& changes) {
  const std::string& before = state.status.deployment;
  std::string reason;
  if (next.deployment == kValidationFailed) {
    reason = "the spec is refused: " + next.message;
  } else if (next.deployment == kInitializing) {
    if (before == kSuspended) changes.event(EventType::kNormal, "Resumed", "RayJob resumed");
    reason = fmt::format("starting attempt {} with RayCluster {}", state.status.failed + 1, next.cluster_name);
  } else if (next.deployment == kWaiting) {
    reason = "the RayCluster is ready: waiting for spec.jobId";
  } else if (next.deployment == kRunning) {
    reason = before == kWaiting ? fmt::format("spec.jobId is {}: following that job", next.job_id)
                                : "the RayCluster is ready: running the Ray job";
  } else if (next.deployment == kSuspending) {
    reason = "spec.suspend is true: suspending the RayJob";
  } else if (next.deployment == kSuspended) {
    changes.event(EventType::kNormal, kSuspended, "RayJob suspended");
    reason = before == kSuspending ? "all resources of the attempt are deleted: the RayJob is suspended"
                                   : "spec.suspend is true: the RayJob is suspended";
  } else if (next.deployment == kComplete) {
    reason = fmt::format("Ray job {} is {}", next.job_id, next.job);
    changes.event(EventType::kNormal, kComplete, reason);
  } else {
    return render_failure(state, next, changes);
  }
  changes.reasons.push_back(std::move(reason));
}

/// The dashboard, from which the status of the Ray job is read.
void render_job_check(const Decisions& decisions, Changes& changes) {
  if (!decisions.check_problem.empty()) {
    std::string text = fmt::format("the status of the Ray job is unknown: {}", decisions.check_problem);
    changes.event(EventType::kWarning, "JobStatusCheckFailed", text);
    changes.reasons.push_back(std::move(text));
  }
  if (decisions.submitted) {
    changes.reasons.push_back(fmt::format("Ray job {} is submitted", decisions.status.job_id));
  }
}

}  // namespace

plan::Plan render(const RayJobState& state, const Decisions& decisions) {
  Changes changes;
  // A failed delete holds back later stages, but not the other deletes.
  changes.stage(Step::kDeletes).independent = true;
  changes.requests = decisions.requests;
  changes.requeue_after = decisions.requeue_after;
  changes.keeps_failure = decisions.service.keeps_failure;
  if (decisions.add_finalizer) add_finalizer(state, changes);
  render_cluster(state, decisions.cluster, changes);
  render_service(state, decisions.service, changes);
  render_job_check(decisions, changes);
  render_submitter(state, decisions.submitter, changes);
  if (decisions.delete_self) delete_self(state, changes);
  RayJobStatus next = decisions.status;
  if (next.deployment != state.status.deployment) {
    render_transition(state, next, changes);
    if (next.finished()) changes.count(kFinishedRayJobs, next.deployment);
  }
  next.conditions = next_conditions(state, decisions, changes);
  const Json before = plan::status_of(state.seen.job);
  return plan::to_plan(std::move(changes), before, next.to_json(before, state.spec.generation),
                       "status of the RayCluster and the Ray job");
}

plan::Plan render_deletion(const RayJobState& state, const DeletionDecision& decision) {
  Changes changes;
  if (decision.request) changes.requests.push_back(*decision.request);
  if (decision.requeue_after) changes.requeue_within(*decision.requeue_after);
  switch (decision.kind) {
    case DeletionDecision::Kind::kNone:
    case DeletionDecision::Kind::kStopping:
      break;
    case DeletionDecision::Kind::kNothingToStop:
      remove_finalizer(state, "the RayJob is being deleted, and has no Ray job to stop", changes);
      break;
    case DeletionDecision::Kind::kStopped:
      remove_finalizer(state, fmt::format("Ray job {} is stopped", state.status.job_id), changes);
      break;
    case DeletionDecision::Kind::kNotStopped: {
      std::string text = fmt::format("Ray job {} could not be stopped: {}", state.status.job_id, decision.problem);
      changes.event(EventType::kWarning, "FailedToStopRayJob", text);
      remove_finalizer(state, std::move(text), changes);
      break;
    }
  }
  const Json status = plan::status_of(state.seen.job);
  return plan::to_plan(std::move(changes), status, status);
}

}  // namespace tpuslice::rayjob
