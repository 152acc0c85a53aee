#include "cmd/tpu-slice-sim/cluster/scheduling/requirements.h"

#include <algorithm>
#include <optional>

#include "api/base/strings.h"

namespace tpuslice::sim {

namespace {

bool compare(const std::string& found, const std::vector<std::string>& values, bool greater) {
  if (values.size() != 1) return false;
  const auto left = parse_integer<std::int64_t>(found);
  const auto right = parse_integer<std::int64_t>(values.front());
  if (!left || !right) return false;
  return greater ? *left > *right : *left < *right;
}

}  // namespace

bool Requirement::matches(const StringMap& labels) const {
  const auto found = labels.find(key);
  const bool present = found != labels.end();
  if (op == "Exists") return present;
  if (op == "DoesNotExist") return !present;
  const bool listed = present && std::find(values.begin(), values.end(), found->second) != values.end();
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Gt") return present && compare(found->second, values, true);
  if (op == "Lt") return present && compare(found->second, values, false);
  return false;
}

bool all_match(const Requirements& requirements, const StringMap& labels) {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const Requirement& requirement) { return requirement.matches(labels); });
}

Requirements expressions(const Json& list) {
  Requirements out;
  if (!list.is_array()) return out;
  for (const Json& entry : list) {
    Requirement requirement{string_at(entry, {"key"}), string_at(entry, {"operator"}), {}};
    if (const Json* values = find_path(entry, {"values"}); values != nullptr && values->is_array()) {
      for (const Json& value : *values) {
        if (value.is_string()) requirement.values.push_back(value.get<std::string>());
      }
    }
    out.push_back(std::move(requirement));
  }
  return out;
}

Requirements label_selector(const Json& selector) {
  Requirements out;
  if (const Json* list = find_path(selector, {"matchExpressions"})) out = expressions(*list);
  for (const auto& [key, value] : string_map(find_path(selector, {"matchLabels"}))) {
    out.push_back({key, "In", {value}});
  }
  return out;
}

StringMap string_map(const Json* object) {
  StringMap out;
  if (object == nullptr || !object->is_object()) return out;
  for (const auto& [key, value] : object->items()) {
    if (value.is_string()) out.emplace(key, value.get<std::string>());
  }
  return out;
}

}  // namespace tpuslice::sim
