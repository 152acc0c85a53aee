#include "controllers/rayjob/running.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/cluster.h"
#include "controllers/rayjob/deadlines.h"
#include "controllers/rayjob/head_service.h"
#include "controllers/rayjob/http_submission.h"
#include "controllers/rayjob/job_check.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submitter.h"
#include "controllers/rayjob/teardown.h"

namespace tpuslice::rayjob {
namespace {

using CheckKind = JobCheck::Kind;
using SubmitterKind = SubmitterState::Kind;

/// Returns whether the RayJob has ended because its cluster is gone.
bool check_cluster(const RayJobState& state, Draft& draft) {
  if (state.usable_cluster() != nullptr) {
    follow_cluster(state, draft);
    return false;
  }
  // A job that has ended needs the cluster no more.
  if (ray::is_terminal(state.status.job)) {
    end_by_ray(state, {}, draft);
  } else {
    fail(state, kJobLost, fmt::format("RayCluster {} was deleted before the Ray job ended", state.status.cluster_name),
         draft);
  }
  return true;
}

/// The job has ended; its submitter may still copy the log.
void await_submitter(const RayJobState& state, const SubmitterState& submitter, Draft& draft) {
  if (submitter.done()) return end_by_ray(state, {}, draft);
  const Timestamp due = draft.status.job_ended.value_or(state.seen.now) + state.options.submitter_grace;
  if (state.seen.now >= due) return end_by_ray(state, kTransitionGracePeriod, draft);
  draft.changes.requeue_within(due - state.seen.now);
}

void handle_unknown_job(const RayJobState& state, const SubmitterState& submitter, Draft& draft) {
  if (!state.status.job.empty()) {
    return fail(state, kJobLost,
                fmt::format("Ray does not know job {} any more, which was {}: the head of RayCluster {} was lost",
                            state.status.job_id, state.status.job, state.status.cluster_name),
                draft);
  }
  switch (submitter.kind) {
    case SubmitterKind::kAborted:
      return fail(state, kSubmissionFailed, fmt::format("Job submission has failed. {}", submitter.problem), draft);
    case SubmitterKind::kSucceeded:
      return fail(state, kAppFailed, "Submitter completed but Ray job not found in RayCluster.", draft);
    case SubmitterKind::kMissing:
      (void)ensure_submitter(state, draft);
      return;
    case SubmitterKind::kNone:
    case SubmitterKind::kActive:
    case SubmitterKind::kHeadLost:
      return;
  }
}

void check_status_timeout(const RayJobState& state, std::string_view problem, Draft& draft) {
  if (!draft.status.check_failing_since) {
    draft.status.check_failing_since = state.seen.now;
    std::string text = fmt::format("the status of the Ray job is unknown: {}", problem);
    draft.changes.event(plan::EventType::kWarning, "JobStatusCheckFailed", text);
    draft.changes.reasons.push_back(std::move(text));
  }
  const Timestamp due = *draft.status.check_failing_since + state.options.status_check_timeout;
  if (state.seen.now < due) return draft.changes.requeue_within(due - state.seen.now);
  fail(state, kStatusCheckTimeout,
       fmt::format("Job status checks have been failing since {}: {}",
                   format_rfc3339(*draft.status.check_failing_since), problem),
       draft);
}

}  // namespace

void plan_waiting(const RayJobState& state, Draft& draft) {
  if (state.spec.suspend) return begin_suspension(draft);
  if (check_cluster(state, draft)) return;
  if (check_active_deadline(state, draft) || check_pre_running_deadline(state, draft)) return;
  if (state.spec.job_id.empty()) return;
  draft.status.job_id = state.spec.job_id;
  draft.status.deployment = kRunning;
  draft.changes.reasons.push_back(fmt::format("spec.jobId is {}: following that job", state.spec.job_id));
}

void plan_running(const RayJobState& state, Draft& draft) {
  if (state.spec.suspend) return begin_suspension(draft);
  if (check_cluster(state, draft)) return;
  ensure_head_service(state, draft);
  const SubmitterState submitter = submitter_state(state);
  if (submitter.kind == SubmitterKind::kHeadLost && !ray::is_terminal(state.status.job)) {
    return fail(state, kJobLost, fmt::format("{}, whose container submitted the Ray job", submitter.problem), draft);
  }
  const HttpSubmission submission = find_submission(state);
  keep_answer(submission, draft);
  const JobCheck check = check_job(state, submitter, submission.answered, draft);
  if (check.kind == CheckKind::kFound) record(check.info, state.seen.now, draft.status);
  if (ray::is_terminal(draft.status.job)) return await_submitter(state, submitter, draft);
  // Time limits are checked after the first answer or error, which is there within seconds.
  if (check.kind == CheckKind::kNoAnswer) return;
  if (check_active_deadline(state, draft)) return;
  if (check.kind == CheckKind::kUnreachable) return check_status_timeout(state, check.problem, draft);
  if (check.kind == CheckKind::kFound) return;
  const bool submits = state.spec.mode == SubmissionMode::kHttp && state.status.job.empty();
  if (!submits) {
    draft.status.check_failing_since.reset();
    return handle_unknown_job(state, submitter, draft);
  }
  if (const std::string problem = submit_over_http(state, submission, draft); !problem.empty()) {
    return check_status_timeout(state, problem, draft);
  }
  draft.status.check_failing_since.reset();
}

}  // namespace tpuslice::rayjob
