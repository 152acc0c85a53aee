#include "controllers/rayjob/rayjob_plan.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/cleanup.h"
#include "controllers/rayjob/cluster.h"
#include "controllers/rayjob/conditions.h"
#include "controllers/rayjob/deadlines.h"
#include "controllers/rayjob/deletion.h"
#include "controllers/rayjob/rayjob_state.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/running.h"
#include "controllers/rayjob/submitter.h"
#include "controllers/rayjob/teardown.h"

namespace tpuslice::rayjob {
namespace {

using plan::EventType;

/// Moves a RayJob without an attempt to Initializing, Suspended or ValidationFailed.
void start(const RayJobState& state, Draft& draft) {
  RayJobStatus& status = draft.status;
  if (state.refusal) {
    status.deployment = kValidationFailed;
    status.reason = kValidationFailed;
    status.message = state.refusal.message;
    if (state.status.deployment == kValidationFailed) return;
    draft.changes.reasons.push_back("the spec is refused: " + state.refusal.message);
    return;
  }
  if (state.spec.suspend) {
    if (state.status.deployment == kSuspended) return;
    status.deployment = kSuspended;
    status.reason.clear();
    status.message.clear();
    draft.changes.event(EventType::kNormal, kSuspended, "RayJob suspended");
    draft.changes.reasons.emplace_back("spec.suspend is true: the RayJob is suspended");
    return;
  }
  if (state.status.deployment == kSuspended) draft.changes.event(EventType::kNormal, "Resumed", "RayJob resumed");
  ensure_finalizer(state, draft);
  status.deployment = kInitializing;
  status.reason.clear();
  status.message.clear();
  // An upstream operator may have left the names of children that still exist.
  if (status.job_id.empty()) status.job_id = next_job_id(state);
  if (status.cluster_name.empty()) status.cluster_name = next_cluster_name(state);
  status.started = state.seen.now;
  status.ended.reset();
  draft.changes.reasons.push_back(
      fmt::format("starting attempt {} with RayCluster {}", state.status.failed + 1, status.cluster_name));
}

void plan_initializing(const RayJobState& state, Draft& draft) {
  if (state.spec.suspend) return begin_suspension(draft);
  if (check_active_deadline(state, draft) || check_pre_running_deadline(state, draft)) return;
  ensure_finalizer(state, draft);
  if (!ensure_cluster(state, draft)) return;
  if (state.spec.mode == SubmissionMode::kInteractive) {
    draft.status.deployment = kWaiting;
    draft.changes.reasons.emplace_back("the RayCluster is ready: waiting for spec.jobId");
    return;
  }
  if (state.spec.mode == SubmissionMode::kK8sJob && !ensure_submitter(state, draft)) return;
  draft.status.deployment = kRunning;
  draft.changes.reasons.emplace_back("the RayCluster is ready: running the Ray job");
}

void plan_state(const RayJobState& state, Draft& draft) {
  const std::string& deployment = state.status.deployment;
  if (deployment == kInitializing) return plan_initializing(state, draft);
  if (deployment == kWaiting) return plan_waiting(state, draft);
  if (deployment == kRunning) return plan_running(state, draft);
  if (state.status.finished()) return plan_finished(state, draft);
  if ((deployment == kSuspending || deployment == kRetrying) && !tear_down(state, draft)) return;
  if (deployment == kSuspending) {
    draft.status.deployment = kSuspended;
    draft.changes.event(EventType::kNormal, kSuspended, "RayJob suspended");
    draft.changes.reasons.emplace_back("all resources of the attempt are deleted: the RayJob is suspended");
    return;
  }
  start(state, draft);
}

}  // namespace

Result<plan::Plan> plan_rayjob(const RayJobObserved& seen, const Options& options) {
  const RayJobState state(seen, options);
  if (state.spec.managed_by_other()) return plan::Plan{};
  if (seen.job.deletion_timestamp()) return plan_deletion(state);
  Draft draft(state);
  plan_state(state, draft);
  set_conditions(state, draft);
  const Json before = plan::status_of(seen.job);
  return plan::to_plan(std::move(draft.changes), before, draft.status.to_json(before, state.spec.generation),
                       "status of the RayCluster and the Ray job");
}

}  // namespace tpuslice::rayjob
