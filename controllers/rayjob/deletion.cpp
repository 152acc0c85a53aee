#include "controllers/rayjob/deletion.h"

#include "controllers/plan/finalizers.h"
#include "controllers/rayjob/dashboard_address.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {

DeletionDecision decide_deletion(const RayJobState& state) {
  using Kind = DeletionDecision::Kind;
  if (!plan::has_finalizer(state.seen.job, kStopFinalizer)) return {};
  const RayJobStatus& status = state.status;
  if (status.job_id.empty() || ray::is_terminal(status.job)) return {Kind::kNothingToStop};
  DeletionDecision out;
  out.request = stop_request(state);
  if (!out.request) return {Kind::kNothingToStop};
  const plan::WorkloadAnswer* answer = state.seen.answers.to(*out.request);
  const Timestamp due = state.seen.job.deletion_timestamp().value_or(state.seen.now) + state.options.stop_timeout;
  if (answer != nullptr && (answer->ok() || answer->status == 404)) {
    out.kind = Kind::kStopped;
  } else if (state.seen.now < due) {
    out.kind = Kind::kStopping;
    out.requeue_after = due - state.seen.now;
  } else {
    out.kind = Kind::kNotStopped;
    out.problem = answer == nullptr ? "no answer in time" : ray::explain(*answer);
  }
  return out;
}

}  // namespace tpuslice::rayjob
