#include "api/types/conditions.h"

#include "api/types/utf8.h"

namespace tpuslice {
namespace {

Json* find(Json& conditions, std::string_view type) {
  if (!conditions.is_array()) return nullptr;
  for (Json& condition : conditions) {
    if (string_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

/// Returns whether the value changed.
bool assign(Json& condition, const char* member, Json value) {
  Json& current = condition[member];
  if (current == value) return false;
  current = std::move(value);
  return true;
}

}  // namespace

bool set_condition(Json& conditions, const Condition& condition, Timestamp now) {
  if (!conditions.is_array()) conditions = Json::array();
  Json* found = find(conditions, condition.type);
  if (found == nullptr) {
    conditions.push_back({{"type", condition.type}});
    found = &conditions.back();
  }
  bool changed = false;
  if (assign(*found, "status", condition.status)) {
    (*found)["lastTransitionTime"] = format_rfc3339(now);
    changed = true;
  }
  changed |= assign(*found, "reason", condition.reason);
  changed |= assign(*found, "message", clip(condition.message, kMaxConditionMessage));
  if (condition.observed_generation) {
    changed |= assign(*found, "observedGeneration", *condition.observed_generation);
  } else {
    changed |= found->erase("observedGeneration") > 0;
  }
  return changed;
}

bool remove_condition(Json& conditions, std::string_view type) {
  if (!conditions.is_array()) return false;
  for (auto condition = conditions.begin(); condition != conditions.end(); ++condition) {
    if (string_at(*condition, {"type"}) != type) continue;
    conditions.erase(condition);
    return true;
  }
  return false;
}

const Json* find_condition(const Json& conditions, std::string_view type) {
  if (!conditions.is_array()) return nullptr;
  for (const Json& condition : conditions) {
    if (string_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

std::string condition_status(const Json& conditions, std::string_view type) {
  const Json* found = find_condition(conditions, type);
  return found == nullptr ? std::string() : string_at(*found, {"status"});
}

bool is_condition_true(const Json& conditions, std::string_view type) {
  return condition_status(conditions, type) == "True";
}

}  // namespace tpuslice
