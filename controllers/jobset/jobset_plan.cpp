#include "controllers/jobset/jobset_plan.h"

#include <memory>

#include "controllers/jobset/decisions.h"
#include "controllers/jobset/render.h"
#include "controllers/jobset/rules/validator.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::jobset {
namespace {

/// A finished JobSet is only cleaned up, so its spec may be from before a rule.
Problem check(const JobSetState& state) {
  if (state.status.finished()) return {};
  const Typed<JobSetSpec>& jobset = state.seen.jobset;
  return rules::refusal(rules::validate_stored_jobset(jobset), rules::unsupported_jobset_fields(jobset.json()));
}

}  // namespace

plan::Plan plan_jobset(const JobSetObserved& seen, const Options& options) {
  const JobSetState state(seen);
  if (seen.jobset.deletion_timestamp()) return plan::Plan{};
  if (state.spec.managed_by_other()) return render_expiry(state, expire_finished(state));
  if (const Problem refusal = check(state)) return render_refusal(state, refusal, decide_refused(state));
  JobSetStatus attempt = state.status;
  attempt.execution_attempts = state.attempts.current;
  const auto builder = std::make_shared<const JobBuilder>(seen.jobset, std::move(attempt), options, seen.priorities);
  const Result<Decisions> decisions = decide(state, *builder, options);
  if (!decisions.ok())
    return render_refusal(state, {"InvalidSpec", decisions.error().message()}, decide_refused(state));
  return render(state, *decisions, builder);
}

}  // namespace tpuslice::jobset
