#include "webhook/rules/member_changes.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/types/patch.h"

namespace tpuslice::webhook {

Json& MemberChanges::member(Json& parent, std::string_view path, std::string_view key) {
  const auto found = parent.find(key);
  if (found == parent.end()) {
    Json& made = parent[std::string(key)];
    changes_.push_back({fmt::format("{}/{}", path, key), std::nullopt, &made});
    return made;
  }
  const bool known =
      std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) { return change.now == &*found; });
  if (!known) changes_.push_back({fmt::format("{}/{}", path, key), *found, &*found});
  return *found;
}

Json MemberChanges::patch() const {
  Json operations = Json::array();
  for (const Change& change : changes_) {
    if (!change.before) {
      operations.push_back({{"op", "add"}, {"path", change.path}, {"value", *change.now}});
      continue;
    }
    Json found = json_diff(*change.before, *change.now, change.path);
    std::move(found.begin(), found.end(), std::back_inserter(operations));
  }
  return operations;
}

}  // namespace tpuslice::webhook
