#include "controllers/plan/conditions.h"

#include "api/types/utf8.h"

namespace tpuslice::plan {

bool set_own_condition(Json& conditions, std::string_view type, const Problem& problem, std::string_view message,
                       std::int64_t generation, Timestamp now) {
  Condition condition{std::string(type), "False", problem.reason, problem.message, generation};
  if (!problem) {
    condition.status = "True";
    condition.reason = type.substr(type.rfind('/') + 1);
    condition.message = message;
  }
  const Json* before = find_condition(conditions, type);
  const bool changed = before == nullptr || string_at(*before, {"status"}) != condition.status ||
                       string_at(*before, {"message"}) != clip(condition.message, kMaxConditionMessage);
  set_condition(conditions, condition, now);
  return changed;
}

bool set_accepted(Json& conditions, const Problem& refusal, std::int64_t generation, Timestamp now) {
  return set_own_condition(conditions, kAccepted, refusal, "the spec is valid", generation, now);
}

}  // namespace tpuslice::plan
