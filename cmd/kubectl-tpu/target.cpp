#include "cmd/kubectl-tpu/target.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice::plugin {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kShortNames = {
    {{"lws", "leaderworkersets"}, {"sts", "statefulsets"}}};

std::vector<ResourceType> all_types() {
  std::vector<ResourceType> types;
  for (const kind::Kind* each : kinds()) types.push_back(each->type);
  types.push_back(kJobs);
  types.push_back(kStatefulSets);
  return types;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  const std::size_t slash = text.find('/');
  Target target;
  if (slash != std::string_view::npos) target.kind = to_lower(text.substr(0, slash));
  target.name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (slash == 0 || !check_dns1123_subdomain(target.name).empty()) {
    return Error::invalid_argument("found \"{}\", expected KIND/NAME or NAME, e.g. rayjob/train", text);
  }
  return target;
}

const std::vector<ResourceType>& workload_types() {
  static const std::vector<ResourceType> kTypes = all_types();
  return kTypes;
}

Result<ResourceType> workload_type_of(std::string_view kind) {
  std::string wanted = to_lower(kind);
  for (const auto& [name, plural] : kShortNames) {
    if (wanted == name) wanted = plural;
  }
  std::vector<std::string> known;
  for (const ResourceType& type : workload_types()) {
    const std::string singular = to_lower(type.kind);
    if (wanted == singular || wanted == type.plural || wanted == type.resource()) return type;
    known.push_back(singular);
  }
  return Error::invalid_argument("kind \"{}\" has no slices; kinds are {}", kind, fmt::join(known, ", "));
}

Result<std::string> pool_name_of(std::string_view text) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"pool/", "nodepool/", "pools/"};
  for (const std::string_view prefix : kPrefixes) {
    if (text.starts_with(prefix) && text.size() > prefix.size()) return std::string(text.substr(prefix.size()));
  }
  return Error::invalid_argument("found \"{}\", expected pool/NAME", text);
}

}  // namespace tpuslice::plugin
