#include "cmd/tpu-slice-sim/cluster/conditions.h"

namespace tpuslice::sim {

namespace {

Json* find_condition(Json& conditions, std::string_view type) {
  for (Json& entry : conditions) {
    if (string_at(entry, {"type"}) == type) return &entry;
  }
  return nullptr;
}

}  // namespace

bool set_condition(Json& status, const Condition& condition, Timestamp now) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  Json* found = find_condition(conditions, condition.type);
  // Other fields, such as lastHeartbeatTime, are kept.
  Json entry = found == nullptr ? Json{{"type", condition.type}} : *found;
  const bool moved = string_at(entry, {"status"}) != condition.status;
  entry["status"] = condition.status;
  const auto set = [&entry](const char* field, const std::string& text) {
    if (text.empty()) {
      entry.erase(field);
    } else {
      entry[field] = text;
    }
  };
  set("reason", condition.reason);
  set("message", condition.message);
  if (moved) entry["lastTransitionTime"] = format_rfc3339(now);
  if (found == nullptr) {
    conditions.push_back(std::move(entry));
    return true;
  }
  if (*found == entry) return false;
  *found = std::move(entry);
  return true;
}

std::string condition_status(const Json& object, std::string_view type) {
  const Json* conditions = find_path(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return {};
  for (const Json& entry : *conditions) {
    if (string_at(entry, {"type"}) == type) return string_at(entry, {"status"});
  }
  return {};
}

}  // namespace tpuslice::sim
