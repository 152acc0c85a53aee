#include "cmd/kubectl-tpu/ui/fleet_diff.h"

#include <map>
#include <string>

#include <fmt/format.h>

namespace tpuslice::plugin {
namespace {

std::string pool_key(const Json& pool) { return string_at(pool, {"topologyKey"}) + "|" + string_at(pool, {"name"}); }

std::string slice_key(const Json& slice) {
  return fmt::format("{}/{}/{}/{}", string_at(slice, {"namespace"}), string_at(slice, {"kind"}),
                     string_at(slice, {"name"}), string_at(slice, {"slice"}));
}

using KeyOf = std::string (*)(const Json&);

std::map<std::string, const Json*> by_key(const Json& items, KeyOf key_of) {
  std::map<std::string, const Json*> found;
  std::map<std::string, int> seen;
  for (const Json& item : items) {
    const std::string key = key_of(item);
    const int count = ++seen[key];
    found.emplace(count == 1 ? key : fmt::format("{}#{}", key, count), &item);
  }
  return found;
}

/// Null if the items are equal.
Json diff_items(const Json& before, const Json& after, KeyOf key_of) {
  Json diff;
  auto old = by_key(before, key_of);
  for (const auto& [key, item] : by_key(after, key_of)) {
    const auto known = old.find(key);
    if (known == old.end() || *known->second != *item) diff["set"][key] = *item;
    if (known != old.end()) old.erase(known);
  }
  for (const auto& [key, item] : old) diff["removed"].push_back(key);
  return diff;
}

}  // namespace

Json diff_fleets(const Json& before, const Json& after) {
  Json diff = Json::object();
  for (const char* const member : {"time", "cluster", "attention", "missing"}) {
    const Json* const now = find_path(after, {member});
    const Json* const then = find_path(before, {member});
    if (now != nullptr && (then == nullptr || *then != *now)) diff[member] = *now;
    if (now == nullptr && then != nullptr) diff[member] = nullptr;
  }
  for (const auto& [member, key_of] : {std::pair{"pools", KeyOf(pool_key)}, std::pair{"slices", KeyOf(slice_key)}}) {
    Json items = diff_items(array_at(before, {member}), array_at(after, {member}), key_of);
    if (!items.is_null()) diff[member] = std::move(items);
  }
  return diff;
}

}  // namespace tpuslice::plugin
