#include "controllers/plan/conditions.h"

#include "api/types/utf8.h"

namespace tpuslice::plan {
namespace {

/// Upstream's and our types. Those of third parties have a domain, too.
bool is_known(std::string_view type) {
  return type.find('/') == std::string_view::npos || type.starts_with("tpuslice.dev/");
}

void set_generation(Json& condition, std::int64_t generation) {
  if (!condition.is_object() || !condition.contains("observedGeneration")) return;
  if (is_known(string_at(condition, {"type"}))) condition["observedGeneration"] = generation;
}

}  // namespace

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

void set_inactive_condition(Json& conditions, std::string_view type, const Problem& problem, std::int64_t generation,
                            Timestamp now) {
  const Json* before = find_condition(conditions, type);
  const bool keep = before != nullptr && is_condition_true(conditions, type);
  set_own_condition(conditions, type, keep ? Problem{} : problem,
                    keep ? string_at(*before, {"message"}) : std::string(), generation, now);
}

bool set_accepted(Json& conditions, const Problem& refusal, std::int64_t generation, Timestamp now) {
  return set_own_condition(conditions, kAccepted, refusal, "the spec is valid", generation, now);
}

void set_observed_generation(Json& conditions, std::int64_t generation, std::string_view except) {
  for (Json& condition : conditions) {
    if (except.empty() || string_at(condition, {"type"}) != except) set_generation(condition, generation);
  }
}

void set_observed_generation_unless_true(Json& conditions, std::int64_t generation) {
  for (Json& condition : conditions) {
    if (string_at(condition, {"status"}) != "True") set_generation(condition, generation);
  }
}

}  // namespace tpuslice::plan
