#include "controllers/plan/drift.h"

#include <algorithm>
#include <utility>

namespace tpuslice::plan {
namespace {

bool is_empty_object(const Json& json) { return json.is_object() && json.empty(); }

}  // namespace

bool has_all(const Json& live, const Json& desired) {
  if (desired.is_object()) {
    return live.is_object() && std::ranges::all_of(desired.items(), [&](const auto& member) {
             const auto found = live.find(member.key());
             return found == live.end() ? is_empty_object(member.value()) : has_all(*found, member.value());
           });
  }
  if (desired.is_array()) return live.is_array() && std::ranges::equal(live, desired, has_all);
  return live == desired;
}

Json restore_patch(const Json& desired, const Json& live) {
  if (live.is_null() && is_empty_object(desired)) return {};
  if (!desired.is_object() || !live.is_object()) return has_all(live, desired) ? Json() : desired;
  Json patch;
  for (const auto& [key, value] : desired.items()) {
    const auto found = live.find(key);
    if (found == live.end()) {
      if (!is_empty_object(value)) patch[key] = value;
    } else if (Json change = restore_patch(value, *found); !change.is_null()) {
      patch[key] = std::move(change);
    }
  }
  return patch;
}

}  // namespace tpuslice::plan
