#include "controllers/disaggregatedset/rules/role_set.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/disaggregatedset/rules/revision.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/leaderworkerset/rules/validator.h"

namespace tpuslice::disaggregatedset {
namespace {

constexpr std::string_view kNamePath = "metadata.name";

/// Name of a set that the API server is still to name.
constexpr std::string_view kGeneratedName = "aaaaa";

}  // namespace

Json role_set(const DisaggregatedSetSpec& spec, const RoleSpec& role) {
  const std::string_view name = spec.key.name.empty() ? kGeneratedName : std::string_view(spec.key.name);
  Json set = *role.json;
  if (!set["metadata"].is_object()) set["metadata"] = Json::object();
  set["apiVersion"] = leaderworkerset::kLeaderWorkerSets.api_version();
  set["kind"] = leaderworkerset::kLeaderWorkerSets.kind;
  set["metadata"]["name"] = set_name(name, spec.slices - 1, std::string(kRevisionLength, '0'), role.name);
  if (role.external && set.contains("spec") && set["spec"].is_object()) set["spec"].erase("replicas");
  return set;
}

std::string role_path(std::size_t index, std::string_view path) {
  return fmt::format("spec.roles[{}].{}", index, path);
}

void check_role_set(const DisaggregatedSetSpec& spec, std::size_t index, rules::FieldErrors& errors) {
  const RoleSpec& role = spec.roles[index];
  if (!role.json->is_object()) return;
  const Json set = role_set(spec, role);
  for (rules::FieldError error : rules::validate_leaderworkerset(set, nullptr)) {
    if (error.path == kNamePath) {
      error.detail = fmt::format("the LeaderWorkerSet would be {}: {}", error.found, error.detail);
      error.found = Json(role.name).dump();
      error.path = role_path(index, "name");
    } else {
      error.path = role_path(index, error.path);
    }
    errors.push_back(std::move(error));
  }
}

}  // namespace tpuslice::disaggregatedset
