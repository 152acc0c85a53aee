#include "cmd/tpu-slice-operator/controller_names.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "cmd/tpu-slice-operator/options.h"

namespace tpuslice {
namespace {

constexpr std::string_view kSliceController = "slice";

std::vector<std::string_view> kind_controllers() {
  std::vector<std::string_view> names;
  for (const kind::Kind* each : kinds()) names.push_back(each->controller);
  return names;
}

/// Names of the controllers that have an upstream controller.
std::vector<std::string_view> upstream_kinds() {
  std::vector<std::string_view> names;
  for (const kind::Kind* each : kinds()) {
    if (each->upstream.exists()) names.push_back(each->controller);
  }
  return names;
}

/// The controller without which `name` does not run unless it is named; empty without one.
std::string_view leader_of(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &kind::Kind::controller);
  return found == kinds().end() ? std::string_view() : (*found)->runs_with;
}

}  // namespace

Result<std::vector<std::string>> parse_controllers(const std::string& value) {
  std::vector<std::string_view> known = kind_controllers();
  known.push_back(kSliceController);
  std::vector<std::string> entries;
  std::istringstream in(value);
  for (std::string entry; std::getline(in, entry, ',');) {
    const std::string_view name = entry.starts_with('-') ? std::string_view(entry).substr(1) : std::string_view(entry);
    if (name != "*" && std::ranges::find(known, name) == known.end()) {
      return Error::invalid_argument("found \"{}\", expected *, {}, or one of them behind a -, separated by commas",
                                     entry, fmt::join(known, ", "));
    }
    entries.push_back(entry);
  }
  if (entries.empty()) return Error::invalid_argument("found nothing, expected e.g. \"*\" or \"raycluster\"");
  return entries;
}

Result<std::vector<std::string>> parse_take_over(const std::string& value) {
  const std::vector<std::string_view> known = upstream_kinds();
  std::vector<std::string> names = split(value, ',');
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return Error::invalid_argument("found \"{}\", expected one or more of {}, separated by commas", name,
                                   fmt::join(known, ", "));
  }
  return names;
}

std::string list_of_left_out_kinds() { return fmt::format("-{}", fmt::join(kind_controllers(), ", -")); }

std::string list_of_followers() {
  std::map<std::string_view, std::vector<std::string_view>> followers;
  for (const kind::Kind* each : kinds()) {
    if (!each->runs_with.empty()) followers[each->runs_with].push_back(each->controller);
  }
  std::vector<std::string> sentences;
  sentences.reserve(followers.size());
  for (const auto& [leader, names] : followers) {
    sentences.push_back(
        fmt::format("{} run{} with {}", fmt::join(names, " and "), names.size() == 1 ? "s" : "", leader));
  }
  return fmt::format("{}", fmt::join(sentences, ", "));
}

std::string list_of_upstream_kinds() { return fmt::format("{}", fmt::join(upstream_kinds(), ", ")); }

std::string list_of_served_kinds() {
  std::vector<std::string> names;
  for (const kind::Kind* each : kinds()) names.push_back(fmt::format("{}s", each->type.kind));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool OperatorOptions::enables(std::string_view name) const {
  bool enabled = false;
  for (const std::string& entry : controllers) {
    const std::string_view left_out = entry.starts_with('-') ? std::string_view(entry).substr(1) : std::string_view();
    if (entry == "*" || entry == name) enabled = true;
    if (!left_out.empty() && (left_out == name || left_out == leader_of(name))) enabled = false;
  }
  return enabled;
}

bool OperatorOptions::takes_over(std::string_view name) const {
  return std::ranges::any_of(take_over,
                             [&](const std::string& each) { return each == name || each == leader_of(name); });
}

}  // namespace tpuslice
