#include "controllers/disaggregatedset/rules/spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::disaggregatedset {
namespace {

using leaderworkerset::IntOrPercent;

RoleSpec read_role(const Json& json) {
  RoleSpec role;
  role.json = &json;
  role.name = string_at(json, {"name"});
  role.external = string_at(json, {"scaling", "mode"}) == "External";
  const auto replicas = int32_at(json, {"spec", "replicas"});
  if (replicas && *replicas >= 0) role.replicas = *replicas;
  return role;
}

PlacementPolicy read_placement(const Json& set) {
  PlacementPolicy policy;
  const std::string type = string_at(set, {"spec", "placementPolicy", "type"});
  if (type == "ExclusiveSlice") policy.type = PlacementType::kExclusiveSlice;
  if (type == "ExclusiveTopology") policy.type = PlacementType::kExclusiveTopology;
  policy.topology = string_at(set, {"spec", "placementPolicy", "topology"});
  return policy;
}

}  // namespace

RolloutLimits RoleSpec::limits(std::int64_t of_replicas) const {
  const RolloutLimits fallback;
  if (json == nullptr || find_set(*json, {"spec", "rolloutStrategy", "rollingUpdateConfiguration"}) == nullptr) {
    return fallback;
  }
  const auto unavailable = leaderworkerset::read_max_unavailable(*json);
  const auto surge = leaderworkerset::read_max_surge(*json);
  const RolloutLimits limits{surge ? surge->scaled(of_replicas, IntOrPercent::Rounding::kUp) : 0,
                             unavailable ? unavailable->scaled(of_replicas, IntOrPercent::Rounding::kDown) : 0};
  return limits.surge > 0 || limits.unavailable > 0 ? limits : fallback;
}

const RoleSpec* DisaggregatedSetSpec::find_role(std::string_view name) const {
  const auto found = std::ranges::find(roles, name, &RoleSpec::name);
  return found == roles.end() ? nullptr : &*found;
}

DisaggregatedSetSpec DisaggregatedSetSpec::read(const Object& set) {
  DisaggregatedSetSpec spec = read(set.json());
  spec.owner = set.as_controller();
  return spec;
}

DisaggregatedSetSpec DisaggregatedSetSpec::read(const Json& set) {
  DisaggregatedSetSpec spec;
  spec.key = {string_at(set, {"metadata", "namespace"}), string_at(set, {"metadata", "name"})};
  spec.uid = string_at(set, {"metadata", "uid"});
  spec.generation = int_at(set, {"metadata", "generation"});
  for (const Json& role : array_at(set, {"spec", "roles"})) {
    if (spec.roles.size() == kMaxRoles) break;  // Validation refuses more.
    spec.roles.push_back(read_role(role));
  }
  const auto slices = int32_at(set, {"spec", "slices"});
  if (slices && *slices >= 1 && *slices <= kMaxSlices) spec.slices = *slices;
  spec.placement = read_placement(set);
  return spec;
}

std::string set_name(std::string_view set, std::int64_t slice, std::string_view revision, std::string_view role) {
  return fmt::format("{}-{}-{}-{}", set, slice, revision, role);
}

std::string app_name(std::string_view set, std::int64_t slice, std::string_view role) {
  return fmt::format("{}-{}-{}", set, slice, role);
}

std::string scaler_name(std::string_view set, std::string_view role) { return fmt::format("{}-{}", set, role); }

std::string service_name(std::string_view leader_worker_set) { return fmt::format("{}-prv", leader_worker_set); }

}  // namespace tpuslice::disaggregatedset
