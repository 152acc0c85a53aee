#include "controllers/jobset/decisions.h"

#include <utility>

#include "controllers/jobset/active_deadline.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/children.h"

namespace tpuslice::jobset {
namespace {

Result<RunningDecisions> decide_running(const JobSetState& state, const JobBuilder& builder) {
  const JobSetSpec& spec = state.spec;
  RunningDecisions out;
  out.startup = decide_startup(spec, state.counts);
  out.create_claims = missing_claims(spec, state.seen);
  out.resize = jobs_to_resize(spec, state.children.active);
  out.blocked = spec.failure && spec.failure->blocking && !state.children.previous.empty();
  if (!out.blocked) {
    ASSIGN_OR_RETURN(out.create, missing_jobs(spec, state.children, out.startup, builder));
  }
  if (spec.suspended) {
    out.suspend = jobs_to_suspend(state.children.active);
  } else {
    ASSIGN_OR_RETURN(out.resume, decide_resume(spec, state.children.active, out.startup, builder));
  }
  return out;
}

}  // namespace

Result<Decisions> decide(const JobSetState& state, const JobBuilder& builder, const Options& options) {
  const bool finished = state.status.finished();
  Decisions out;
  out.previous =
      decide_deletions(state.children.previous, state.spec, finished ? nullptr : &builder, options, state.seen.now);
  add_pods(out.previous, state.seen.pods_with_teardown_grace);
  out.service = decide_service(state.spec, state.seen);
  if (finished) {
    out.cleanup = clean_up_finished(state, options);
  } else if (Problem exceeded = exceeded_deadline(state); exceeded && !has_succeeded(state.spec, state.children)) {
    out.failure = FailureDecision{.failed = std::move(exceeded)};
  } else if (!state.children.failed.empty()) {
    out.failure = apply_failure_policy(state.spec, state.status, state.children.failed);
  } else if (has_succeeded(state.spec, state.children)) {
    out.completed = true;
  } else {
    ASSIGN_OR_RETURN(out.running, decide_running(state, builder));
  }
  return out;
}

std::vector<JobPtr> decide_refused(const JobSetState& state) {
  if (!state.spec.suspended) return {};
  std::vector<JobPtr> out = jobs_to_suspend(state.children.active);
  for (const JobPtr& job : jobs_to_suspend(state.children.previous)) out.push_back(job);
  return out;
}

}  // namespace tpuslice::jobset
