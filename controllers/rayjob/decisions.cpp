#include "controllers/rayjob/decisions.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/plan/changes.h"
#include "controllers/plan/finalizers.h"
#include "controllers/rayjob/cleanup.h"
#include "controllers/rayjob/dashboard_address.h"
#include "controllers/rayjob/job_check.h"
#include "controllers/rayjob/limits.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submission.h"
#include "controllers/rayjob/teardown.h"

namespace tpuslice::rayjob {
namespace {

using CheckKind = JobCheck::Kind;
using SubmitterKind = SubmitterState::Kind;

void requeue(Decisions& out, const std::optional<Duration>& time) {
  if (time) plan::requeue_within(out.requeue_after, *time);
}

bool lacks_finalizer(const RayJobState& state) { return !plan::has_finalizer(state.seen.job, kStopFinalizer); }

// Transitions: each returns the decisions with the state that follows.

/// An attempt begins, unless the spec is refused or suspends the RayJob. `status`: without an attempt.
Decisions start(const RayJobState& state, RayJobStatus status) {
  Decisions out{.status = std::move(status)};
  RayJobStatus& next = out.status;
  if (state.refusal) {
    next.deployment = kValidationFailed;
    next.reason = kValidationFailed;
    next.message = state.refusal.message;
    return out;
  }
  if (state.status.deployment == kSuspended && state.spec.suspend) return out;
  next.reason.clear();
  next.message.clear();
  if (state.spec.suspend) {
    next.deployment = kSuspended;
    return out;
  }
  out.add_finalizer = lacks_finalizer(state);
  next.deployment = kInitializing;
  // An upstream operator may have left the names of children that still exist.
  if (next.job_id.empty()) next.job_id = next_job_id(state);
  if (next.cluster_name.empty()) next.cluster_name = next_cluster_name(state);
  next.started = state.seen.now;
  next.ended.reset();
  return out;
}

Decisions suspend(const RayJobState& state) {
  Decisions out{.status = state.status};
  out.status.deployment = kSuspending;
  return out;
}

/// The attempt has ended without success: Retrying if another one is allowed, else Failed.
Decisions fail(const RayJobState& state, std::string_view reason, std::string message, Decisions out) {
  RayJobStatus& next = out.status;
  next.deployment = may_retry(state, reason) ? kRetrying : kFailed;
  next.reason = reason;
  next.message = std::move(message);
  ++next.failed;
  if (next.deployment == kFailed) next.ended = state.seen.now;
  return out;
}

/// Ends the RayJob by the status of the Ray job: SUCCEEDED and STOPPED are Complete, FAILED is a failure. `reason` of
/// the status: upstream sets one only if it did not wait for the submitter.
Decisions end_by_ray(const RayJobState& state, std::string_view reason, Decisions out) {
  RayJobStatus& next = out.status;
  if (next.job == ray::kFailed) {
    std::string message = next.message;
    if (const std::string& lost = out.cluster.lost_workers; !lost.empty()) {
      message += (message.empty() ? "" : "; ") + lost;
    }
    return fail(state, reason.empty() ? kAppFailed : reason, std::move(message), std::move(out));
  }
  next.deployment = kComplete;
  next.reason = reason;
  next.ended = state.seen.now;
  if (next.job == ray::kSucceeded) ++next.succeeded;
  return out;
}

// Parts of several states.

/// Sets the decision about the submitter; false unless it exists.
bool add_submitter(const RayJobState& state, Decisions& out) {
  out.submitter = decide_submitter(state);
  requeue(out, out.submitter.requeue_after);
  if (out.submitter.problem) out.status.message = out.submitter.problem.message;
  return out.submitter.kind == SubmitterDecision::Kind::kExists;
}

/// Ends the attempt if one of its deadlines has passed.
bool fail_after_deadline(const RayJobState& state, Decisions& out) {
  DeadlineDecision deadline = check_deadlines(state);
  requeue(out, deadline.requeue_after);
  if (!deadline.passed) return false;
  out = fail(state, deadline.passed.reason, std::move(deadline.passed.message), std::move(out));
  return true;
}

/// Sets the decision about the cluster, and its status, while the job runs.
void add_followed_cluster(const RayJobState& state, Decisions& out) {
  out.cluster = follow_cluster(state);
  out.status.cluster = out.cluster.status;
}

/// The cluster is gone. A job that has ended needs it no more.
Decisions decide_without_cluster(const RayJobState& state) {
  Decisions out{.status = state.status};
  if (ray::is_terminal(state.status.job)) return end_by_ray(state, {}, std::move(out));
  std::string text = fmt::format("RayCluster {} was deleted before the Ray job ended", state.status.cluster_name);
  return fail(state, kJobLost, std::move(text), std::move(out));
}

// States, in the order in which a RayJob has them.

Decisions decide_initializing(const RayJobState& state) {
  if (state.spec.suspend) return suspend(state);
  Decisions out{.status = state.status};
  if (fail_after_deadline(state, out)) return out;
  out.add_finalizer = lacks_finalizer(state);
  out.cluster = decide_cluster(state);
  requeue(out, out.cluster.requeue_after);
  if (state.usable_cluster() != nullptr) out.status.cluster = out.cluster.status;
  if (out.cluster.problem) out.status.message = out.cluster.problem.message;
  if (out.cluster.kind != ClusterDecision::Kind::kReady) return out;
  out.status.message.clear();
  out.status.dashboard_url = out.cluster.dashboard_url;
  if (state.mode == SubmissionMode::kInteractive) {
    out.status.deployment = kWaiting;
  } else if (state.mode != SubmissionMode::kK8sJob || add_submitter(state, out)) {
    out.status.deployment = kRunning;
  }
  return out;
}

/// InteractiveMode: the user has not submitted the job.
Decisions decide_waiting(const RayJobState& state) {
  if (state.spec.suspend) return suspend(state);
  if (state.usable_cluster() == nullptr) return decide_without_cluster(state);
  Decisions out{.status = state.status};
  add_followed_cluster(state, out);
  if (fail_after_deadline(state, out)) return out;
  if (state.spec.job_id.empty()) return out;
  out.status.job_id = state.spec.job_id;
  out.status.deployment = kRunning;
  return out;
}

/// The job has ended; its submitter may still copy the log.
Decisions await_submitter(const RayJobState& state, const SubmitterState& submitter, Decisions out) {
  if (submitter.done()) return end_by_ray(state, {}, std::move(out));
  const Timestamp due = out.status.job_ended.value_or(state.seen.now) + state.options.submitter_grace;
  if (state.seen.now >= due) return end_by_ray(state, kTransitionGracePeriod, std::move(out));
  requeue(out, due - state.seen.now);
  return out;
}

Decisions check_status_timeout(const RayJobState& state, const std::string& problem, Decisions out) {
  if (!out.status.check_failing_since) {
    out.status.check_failing_since = state.seen.now;
    out.check_problem = problem;
  }
  const Timestamp due = *out.status.check_failing_since + state.options.status_check_timeout;
  if (state.seen.now < due) {
    requeue(out, due - state.seen.now);
    return out;
  }
  std::string text = fmt::format("Job status checks have been failing since {}: {}",
                                 format_rfc3339(*out.status.check_failing_since), problem);
  return fail(state, kStatusCheckTimeout, std::move(text), std::move(out));
}

/// HTTPMode: Ray does not know the job yet.
Decisions submit(const RayJobState& state, const HttpSubmission& last, Decisions out) {
  const SubmissionDecision decision = decide_submission(state, last);
  requeue(out, decision.requeue_after);
  if (decision.request) {
    std::erase_if(out.requests, [&](const auto& request) { return request.name == decision.request->name; });
    out.requests.push_back(*decision.request);
  }
  if (!decision.problem.empty()) return check_status_timeout(state, decision.problem, std::move(out));
  out.status.check_failing_since.reset();
  if (!decision.refusal.empty()) return fail(state, kSubmissionFailed, decision.refusal, std::move(out));
  out.submitted = decision.accepted;
  if (out.submitted) out.status.job = ray::kPending;
  return out;
}

/// Ray does not know the job yet, or no longer knows it.
Decisions handle_unknown_job(const RayJobState& state, const SubmitterState& submitter, Decisions out) {
  out.status.check_failing_since.reset();
  if (!state.status.job.empty()) {
    const PodView* head = find_head(state.seen);
    std::string text = fmt::format(
        "Ray does not know job {} any more, which was {}: the head of RayCluster {} was lost{}", state.status.job_id,
        state.status.job, state.status.cluster_name,
        head == nullptr || head->failure.empty() ? "" : fmt::format("; pod {}: {}", head->key.name, head->failure));
    return fail(state, kJobLost, std::move(text), std::move(out));
  }
  switch (submitter.kind) {
    case SubmitterKind::kAborted:
      return fail(state, kSubmissionFailed, fmt::format("Job submission has failed. {}", submitter.problem),
                  std::move(out));
    case SubmitterKind::kSucceeded:
      return fail(state, kAppFailed, "Submitter completed but Ray job not found in RayCluster.", std::move(out));
    case SubmitterKind::kMissing:
      (void)add_submitter(state, out);
      return out;
    case SubmitterKind::kActive:
      if (!submitter.problem.empty()) out.submitter.problem = {"SubmitterPending", submitter.problem};
      return out;
    case SubmitterKind::kNone:
    case SubmitterKind::kHeadLost:
      break;
  }
  return out;
}

Decisions decide_running(const RayJobState& state) {
  if (state.spec.suspend) return suspend(state);
  if (state.usable_cluster() == nullptr) return decide_without_cluster(state);
  Decisions out{.status = state.status};
  add_followed_cluster(state, out);
  out.service = decide_head_service(state);
  requeue(out, out.service.requeue_after);
  const SubmitterState submitter = submitter_state(state);
  if (submitter.kind == SubmitterKind::kHeadLost && !ray::is_terminal(state.status.job)) {
    return fail(state, kJobLost, fmt::format("{}, whose container submitted the Ray job", submitter.problem),
                std::move(out));
  }
  const HttpSubmission submission = find_submission(state);
  // WorkloadClient keeps the answer to a POST that is still wanted, and does not send it again.
  if (submission.answer != nullptr) out.requests.push_back(submission.answer->request);
  const JobCheck check = check_job(state, submitter, submission.answered);
  if (check.request) out.requests.push_back(*check.request);
  if (check.kind == CheckKind::kFound) record(check.info, state.seen.now, out.status);
  if (ray::is_terminal(out.status.job)) return await_submitter(state, submitter, std::move(out));
  // Time limits are checked after the first answer or error, which is there within seconds.
  if (check.kind == CheckKind::kNoAnswer) return out;
  if (fail_after_deadline(state, out)) return out;
  if (check.kind == CheckKind::kUnreachable) return check_status_timeout(state, check.problem, std::move(out));
  if (check.kind == CheckKind::kFound) return out;
  const bool submits = state.mode == SubmissionMode::kHttp && state.status.job.empty();
  return submits ? submit(state, submission, std::move(out)) : handle_unknown_job(state, submitter, std::move(out));
}

/// Suspending or Retrying, until the attempt is over.
Decisions decide_between_attempts(const RayJobState& state) {
  Decisions out{.status = state.status};
  const TeardownDecision teardown = decide_teardown(state);
  if (teardown.delete_cluster) out.cluster.kind = ClusterDecision::Kind::kDelete;
  if (teardown.delete_submitter) out.submitter.kind = SubmitterDecision::Kind::kDelete;
  if (!teardown.remaining.empty()) {
    out.cluster.problem = {state.status.deployment,
                           fmt::format("waiting for the deletion of {}", plan::join_names(teardown.remaining))};
    return out;
  }
  out.status.clear_attempt();
  if (state.status.deployment == kRetrying) return start(state, std::move(out.status));
  out.status.deployment = kSuspended;
  return out;
}

/// Complete or Failed: only cleaned up.
Decisions decide_finished(const RayJobState& state) {
  Decisions out{.status = state.status};
  // Deletion rules count from it. Another writer may have left it out.
  if (!out.status.ended) out.status.ended = state.seen.now;
  if (const std::optional<Timestamp> until = stop_until(state.status); until && state.seen.now < *until) {
    requeue(out, *until - state.seen.now);
    if (auto request = stop_request(state)) out.requests.push_back(*std::move(request));
  }
  const CleanupDecision cleanup = decide_cleanup(state.spec, state.status, state.seen.now);
  requeue(out, cleanup.requeue_after);
  switch (cleanup.policy) {
    case DeletionPolicy::kNone:
      break;
    case DeletionPolicy::kWorkers:
      out.cluster.workers = suspended_workers(state);
      if (!out.cluster.workers.is_null()) out.cluster.kind = ClusterDecision::Kind::kSuspendWorkers;
      break;
    case DeletionPolicy::kCluster:
      if (can_delete_cluster(state)) out.cluster.kind = ClusterDecision::Kind::kDelete;
      break;
    case DeletionPolicy::kSelf:
      out.delete_self = true;
      break;
  }
  return out;
}

/// The state of another operator version. A new attempt could run the job twice, so nothing is done.
Decisions decide_unknown(const RayJobState& state) {
  Decisions out{.status = state.status};
  out.cluster.status = state.status.cluster;
  out.cluster.problem = {
      "UnknownState",
      fmt::format("RayJob {}: status.jobDeploymentStatus is {}, which this operator does not know, so nothing is "
                  "done: run the operator that wrote it, or remove the field from the status to start the RayJob again",
                  state.spec.key.to_string(), state.status.deployment)};
  return out;
}

}  // namespace

Decisions decide(const RayJobState& state) {
  const std::string& deployment = state.status.deployment;
  if (deployment == kInitializing) return decide_initializing(state);
  if (deployment == kWaiting) return decide_waiting(state);
  if (deployment == kRunning) return decide_running(state);
  if (deployment == kSuspending || deployment == kRetrying) return decide_between_attempts(state);
  if (state.status.finished()) return decide_finished(state);
  if (deployment.empty() || deployment == kSuspended || deployment == kValidationFailed) {
    return start(state, state.status);
  }
  return decide_unknown(state);
}

}  // namespace tpuslice::rayjob
