#include "controllers/jobset/cleanup.h"

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

std::optional<Timestamp> finished_at(const JobSetStatus& status) {
  for (const std::string_view type : {kCompleted, kFailed}) {
    if (!is_condition_true(status.conditions, type)) continue;
    return parse_rfc3339(string_at(*find_condition(status.conditions, type), {"lastTransitionTime"}));
  }
  return std::nullopt;
}

}  // namespace

Cleanup clean_up_finished(const JobSetState& state, const Options& options) {
  const Timestamp now = state.seen.now;
  Cleanup out;
  out.jobs = decide_deletions(state.children.active, state.spec, nullptr, options, now);
  const std::optional<Timestamp> finished = finished_at(state.status);
  if (!state.spec.ttl || !finished) return out;
  const Timestamp due = *finished + *state.spec.ttl;
  out.delete_jobset = now >= due;
  if (now < due) out.requeue_after = due - now;
  return out;
}

}  // namespace tpuslice::jobset
