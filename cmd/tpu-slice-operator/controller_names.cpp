#include "cmd/tpu-slice-operator/controller_names.h"

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-operator/options.h"

namespace tpuslice {
namespace {

constexpr auto kControllers =
    std::to_array<std::string_view>({"raycluster", "rayjob", "rayservice", "jobset", "leaderworkerset", "slice"});
/// The slice controller has no upstream controller.
constexpr std::span<const std::string_view> kUpstreamKinds = std::span(kControllers).first(kControllers.size() - 1);

/// An operator that serves RayClusters serves RayJobs and RayServices, too: two would work on the same objects.
bool follows_raycluster(std::string_view name) { return name == "rayjob" || name == "rayservice"; }

}  // namespace

Result<std::vector<std::string>> parse_controllers(const std::string& value) {
  std::vector<std::string> entries;
  std::istringstream in(value);
  for (std::string entry; std::getline(in, entry, ',');) {
    const std::string_view name = entry.starts_with('-') ? std::string_view(entry).substr(1) : std::string_view(entry);
    if (name != "*" && std::ranges::find(kControllers, name) == kControllers.end()) {
      return Error::invalid_argument("found \"{}\", expected *, {}, or one of them behind a -, separated by commas",
                                     entry, fmt::join(kControllers, ", "));
    }
    entries.push_back(entry);
  }
  if (entries.empty()) return Error::invalid_argument("found nothing, expected e.g. \"*\" or \"raycluster\"");
  return entries;
}

Result<std::vector<std::string>> parse_take_over(const std::string& value) {
  std::vector<std::string> names = split(value, ',');
  for (const std::string& name : names) {
    if (std::ranges::find(kUpstreamKinds, name) != kUpstreamKinds.end()) continue;
    return Error::invalid_argument("found \"{}\", expected one or more of {}, separated by commas", name,
                                   fmt::join(kUpstreamKinds, ", "));
  }
  return names;
}

bool OperatorOptions::enables(std::string_view name) const {
  bool enabled = false;
  for (const std::string& entry : controllers) {
    const std::string_view left_out = entry.starts_with('-') ? std::string_view(entry).substr(1) : std::string_view();
    if (entry == "*" || entry == name) enabled = true;
    if (left_out == name || (follows_raycluster(name) && left_out == "raycluster")) enabled = false;
  }
  return enabled;
}

bool OperatorOptions::takes_over(std::string_view name) const {
  return std::ranges::any_of(take_over, [&](const std::string& each) {
    return each == name || (follows_raycluster(name) && each == "raycluster");
  });
}

}  // namespace tpuslice
