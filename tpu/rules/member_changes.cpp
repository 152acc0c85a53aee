#include "tpu/rules/member_changes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/types/json_pointer.h"
#include "api/types/patch.h"

namespace tpuslice::rules {

Json& MemberChanges::member(Json& parent, std::string_view path, std::string_view key) {
  const auto found = parent.find(key);
  const bool absent = found == parent.end();
  Json& now = absent ? parent[std::string(key)] : *found;
  const bool known =
      std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) { return change.now == &now; });
  if (!known) {
    std::string pointer(path);
    append_to_json_pointer(pointer, key);
    changes_.push_back({std::move(pointer), absent ? std::nullopt : std::optional<Json>(now), &now});
  }
  return now;
}

void MemberChanges::erase(Json& parent, std::string_view path, std::string_view key) {
  if (!parent.is_object() || !parent.contains(key)) return;
  Json& now = member(parent, path, key);
  const auto change = std::ranges::find(changes_, &now, &Change::now);
  change->now = nullptr;
  if (!change->before) changes_.erase(change);
  parent.erase(std::string(key));
}

Json MemberChanges::patch() const {
  Json operations = Json::array();
  for (const Change& change : changes_) {
    if (change.now == nullptr) {
      operations.push_back({{"op", "remove"}, {"path", change.path}});
      continue;
    }
    if (!change.before) {
      operations.push_back({{"op", "add"}, {"path", change.path}, {"value", *change.now}});
      continue;
    }
    Json found = json_diff(*change.before, *change.now, change.path);
    std::move(found.begin(), found.end(), std::back_inserter(operations));
  }
  return operations;
}

}  // namespace tpuslice::rules
