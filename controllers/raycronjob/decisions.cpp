#include "controllers/raycronjob/decisions.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/plan/child.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"

namespace tpuslice::raycronjob {
namespace {

/// The RayJob of the due run exists.
void decide_existing(const RayCronJobState& state, const ObjectView& live, Decisions& out) {
  if (plan::ownership(state.spec.owner, live.controller) == plan::Ownership::kOwned) {
    out.recorded = state.runs.due;
    return;
  }
  const Object desired = build_rayjob(state.spec, *state.runs.due);
  out.problem = {std::string(kNameConflict), fmt::format("{}: delete it, or create the RayCronJob with another name",
                                                         plan::describe_owner(desired.json(), live.controller))};
  plan::requeue_within(out.requeue_after, plan::kConflictRetry);
}

}  // namespace

Decisions decide(const RayCronJobState& state) {
  Decisions out;
  if (state.spec.suspend) {
    out.problem = {std::string(kSuspended), "RayCronJob suspended, no new RayJobs will be created"};
    return out;
  }
  const Timestamp now = state.seen.now;
  out.next = state.runs.next;
  if (out.next) plan::requeue_within(out.requeue_after, std::min<Duration>(*out.next - now, kMaxWait));
  if (!state.runs.due) return out;
  if (state.seen.run != nullptr) {
    decide_existing(state, *state.seen.run, out);
    return out;
  }
  if (const std::optional<Duration> wait = plan::until_retry(state.seen.last_failure, kFailedRayJob, now)) {
    out.problem = {state.seen.last_failure->reason, state.seen.last_failure->message};
    out.keeps_failure = true;
    plan::requeue_within(out.requeue_after, *wait);
    return out;
  }
  out.create = true;
  out.recorded = state.runs.due;
  return out;
}

}  // namespace tpuslice::raycronjob
