#include "controllers/rayjob/deletion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/head.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

using plan::EventType;

/// A merge patch replaces the list, so the RayJob must be as observed.
void patch_finalizers(const RayJobState& state, Json finalizers, Draft& draft) {
  add_action(Step::kFinalizer,
             plan::Action::patch(kRayJobs, state.spec.key, {{"metadata", {{"finalizers", std::move(finalizers)}}}},
                                 {.uid = state.spec.uid, .resource_version = state.seen.job.resource_version()}),
             kFailedFinalizer,
             {{}, "FailedToUpdateFinalizer", {}, fmt::format("Failed to update finalizer {}", kStopFinalizer)}, draft);
}

void remove_finalizer(const RayJobState& state, std::string why, Draft& draft) {
  Json kept = Json::array();
  for (const Json& each : array_at(state.seen.job.json(), {"metadata", "finalizers"})) {
    if (each != Json(kStopFinalizer)) kept.push_back(each);
  }
  patch_finalizers(state, std::move(kept), draft);
  draft.changes.reasons.push_back(std::move(why));
}

/// Stops the job; false if there is none that can be stopped.
bool stop(const RayJobState& state, Draft& draft) {
  const RayJobStatus& status = state.status;
  if (status.job_id.empty() || ray::is_terminal(status.job)) return false;
  const std::optional<ray::Dashboard> dashboard = find_dashboard(state);
  if (!dashboard) return false;
  plan::WorkloadRequest request = ray::stop_job(*dashboard, status.job_id);
  request.interval = state.options.poll;  // Repeated without an answer; stopping twice does no harm.
  const plan::WorkloadAnswer* answer = state.seen.answers.to(request);
  draft.changes.requests.push_back(std::move(request));
  if (answer != nullptr && (answer->ok() || answer->status == 404)) {
    remove_finalizer(state, fmt::format("Ray job {} is stopped", status.job_id), draft);
    return true;
  }
  const Timestamp due = state.seen.job.deletion_timestamp().value_or(state.seen.now) + state.options.stop_timeout;
  if (state.seen.now < due) {
    draft.changes.requeue_within(due - state.seen.now);
    return true;
  }
  std::string text = fmt::format("Ray job {} could not be stopped: {}", status.job_id,
                                 answer == nullptr ? "no answer in time" : ray::explain(*answer));
  draft.changes.event(EventType::kWarning, "FailedToStopRayJob", text);
  remove_finalizer(state, std::move(text), draft);
  return true;
}

}  // namespace

bool has_stop_finalizer(const Object& job) {
  const Json& finalizers = array_at(job.json(), {"metadata", "finalizers"});
  return std::ranges::find(finalizers, Json(kStopFinalizer)) != finalizers.end();
}

void ensure_finalizer(const RayJobState& state, Draft& draft) {
  if (has_stop_finalizer(state.seen.job)) return;
  Json finalizers = array_at(state.seen.job.json(), {"metadata", "finalizers"});
  finalizers.push_back(Json(kStopFinalizer));
  patch_finalizers(state, std::move(finalizers), draft);
  draft.changes.reasons.emplace_back("adding the finalizer that stops the Ray job when the RayJob is deleted");
}

plan::Plan plan_deletion(const RayJobState& state) {
  if (!has_stop_finalizer(state.seen.job)) return {};
  Draft draft(state);
  if (!stop(state, draft)) remove_finalizer(state, "the RayJob is being deleted, and has no Ray job to stop", draft);
  const Json status = plan::status_of(state.seen.job);
  return plan::to_plan(std::move(draft.changes), status, status);
}

}  // namespace tpuslice::rayjob
