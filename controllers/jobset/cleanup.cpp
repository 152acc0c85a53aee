#include "controllers/jobset/cleanup.h"

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

/// The type of the condition that says that the JobSet is finished; empty if there is none.
std::string_view finish_condition(const Json& conditions) {
  for (const std::string_view type : {kCompleted, kFailed}) {
    if (is_condition_true(conditions, type)) return type;
  }
  return {};
}

std::optional<Timestamp> finished_at(const Json& conditions) {
  const Json* const finished = find_condition(conditions, finish_condition(conditions));
  return finished == nullptr ? std::nullopt : parse_rfc3339(string_at(*finished, {"lastTransitionTime"}));
}

}  // namespace

Cleanup expire_finished(const JobSetState& state) {
  const Timestamp now = state.seen.now;
  Cleanup out;
  const std::optional<Timestamp> finished = finished_at(state.status.conditions);
  if (!state.spec.ttl || !finished) return out;
  const Timestamp due = *finished + *state.spec.ttl;
  out.delete_jobset = now >= due;
  if (now < due) out.requeue_after = due - now;
  return out;
}

Cleanup clean_up_finished(const JobSetState& state, const Options& options) {
  Cleanup out = expire_finished(state);
  out.jobs = decide_deletions(state.children.active, state.spec, nullptr, options, state.seen.now);
  return out;
}

void restore_finish_time(Json& conditions, Timestamp now) {
  const std::string_view type = finish_condition(conditions);
  if (type.empty() || finished_at(conditions)) return;
  for (Json& condition : conditions) {
    if (string_at(condition, {"type"}) == type) condition["lastTransitionTime"] = format_rfc3339(now);
  }
}

}  // namespace tpuslice::jobset
