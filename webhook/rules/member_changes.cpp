#include "webhook/rules/member_changes.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/types/patch.h"

namespace tpuslice::webhook {
namespace {

std::string pointer(std::string_view path, std::string_view key) {
  std::string text = fmt::format("{}/", path);
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Json& MemberChanges::member(Json& parent, std::string_view path, std::string_view key) {
  const auto found = parent.find(key);
  const bool absent = found == parent.end();
  Json& now = absent ? parent[std::string(key)] : *found;
  const bool known =
      std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) { return change.now == &now; });
  if (!known) changes_.push_back({pointer(path, key), absent ? std::nullopt : std::optional<Json>(now), &now});
  return now;
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
