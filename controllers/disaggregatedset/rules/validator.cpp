#include "controllers/disaggregatedset/rules/validator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "controllers/disaggregatedset/rules/role_set.h"
#include "controllers/disaggregatedset/rules/spec.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "tpu/rules/field_shapes.h"
#include "tpu/rules/limits.h"

namespace tpuslice::rules {
namespace {

using disaggregatedset::DisaggregatedSetSpec;
using disaggregatedset::role_path;
using disaggregatedset::RoleSpec;

constexpr std::size_t kMaxScalerName = 253;

/// Source: upstream's CRD. The fields of a role that its LeaderWorkerSets have are checked as theirs.
constexpr auto kShapes = [] {
  using enum FieldType;
  return std::array{
      FieldShape{.path = "spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.roles", .type = kList, .required = true, .max = disaggregatedset::kMaxRoles},
      FieldShape{.path = "spec.roles.*", .type = kObject, .required = true},
      FieldShape{.path = "spec.roles.*.name", .type = kString, .required = true},
      FieldShape{.path = "spec.roles.*.metadata", .type = kObject},
      FieldShape{.path = "spec.roles.*.metadata.labels", .type = kObject},
      FieldShape{.path = "spec.roles.*.scaling", .type = kObject},
      FieldShape{.path = "spec.roles.*.scaling.mode", .type = kString, .values = "Static|External"},
      FieldShape{.path = "spec.slices", .type = kInt32},
      FieldShape{.path = "spec.placementPolicy", .type = kObject},
      FieldShape{
          .path = "spec.placementPolicy.type", .type = kString, .values = "None|ExclusiveSlice|ExclusiveTopology"},
      FieldShape{.path = "spec.placementPolicy.topology", .type = kString},
  };
}();

void check_slices(const Json& set, FieldErrors& errors) {
  const auto slices = int32_at(set, {"spec", "slices"});
  if (!slices || (*slices >= 1 && *slices <= disaggregatedset::kMaxSlices)) return;
  errors.push_back(invalid_value("spec.slices", *slices,
                                 fmt::format("must be between 1 and {}, inclusive", disaggregatedset::kMaxSlices),
                                 kLeaderWorkerSetRule));
}

/// Returns whether the name is valid.
bool check_role_name(const DisaggregatedSetSpec& spec, std::size_t index, std::set<std::string>& names,
                     FieldErrors& errors) {
  const RoleSpec& role = spec.roles[index];
  if (!role.json->is_object() || find_set(*role.json, {"name"}) == nullptr) return false;  // Reported by its shape.
  const ErrorMessages details = check_dns1123_label(role.name);
  for (const std::string& detail : details) {
    errors.push_back(invalid_value(role_path(index, "name"), role.name, detail, kLeaderWorkerSetRule));
  }
  if (!names.insert(role.name).second) {
    errors.push_back(duplicate_value(role_path(index, "name"), role.name, kLeaderWorkerSetRule));
    return false;
  }
  const std::string scaler = disaggregatedset::scaler_name(spec.key.name, role.name);
  if (role.external && scaler.size() > kMaxScalerName) {
    errors.push_back(invalid_value(
        role_path(index, "name"), role.name,
        fmt::format("would produce a scaler name of {} characters, the maximum is {}", scaler.size(), kMaxScalerName),
        kLeaderWorkerSetRule));
  }
  return details.empty();
}

void check_partition(const RoleSpec& role, std::size_t index, FieldErrors& errors) {
  const Json* partition = find_set(*role.json, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", "partition"});
  if (partition == nullptr || *partition == 0) return;
  errors.push_back(forbidden(role_path(index, "spec.rolloutStrategy.rollingUpdateConfiguration.partition"),
                             "the roles of a DisaggregatedSet are rolled out together: leave it out, or set 0",
                             kLeaderWorkerSetRule));
}

void check_roles(const DisaggregatedSetSpec& spec, FieldErrors& errors) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < spec.roles.size(); ++i) {
    const bool named = check_role_name(spec, i, names, errors);
    check_partition(spec.roles[i], i, errors);
    if (named) disaggregatedset::check_role_set(spec, i, errors);
  }
}

/// Source: a rule of upstream's CRD.
void check_paused_roles(const DisaggregatedSetSpec& spec, FieldErrors& errors) {
  const auto is_static = [](const RoleSpec& role) { return !role.external; };
  const auto runs = [](const RoleSpec& role) { return !role.external && role.replicas > 0; };
  const auto running = std::ranges::find_if(spec.roles, runs);
  if (running == spec.roles.end()) return;
  for (std::size_t i = 0; i < spec.roles.size(); ++i) {
    if (!is_static(spec.roles[i]) || spec.roles[i].replicas > 0) continue;
    errors.push_back(invalid_value(
        role_path(i, "spec.replicas"), 0,
        fmt::format("replicas must be zero for all non-External roles or non-zero for all of them, and role {} has {}",
                    running->name, running->replicas),
        kLeaderWorkerSetRule));
  }
}

void check_external_slices(const DisaggregatedSetSpec& spec, FieldErrors& errors) {
  const auto external = std::ranges::find_if(spec.roles, &RoleSpec::external);
  if (spec.slices <= 1 || external == spec.roles.end()) return;
  errors.push_back(forbidden(
      "spec.slices",
      fmt::format("more than 1 is not supported with scaling.mode: External, which role {} has", external->name),
      kLeaderWorkerSetRule));
}

/// Pods of all roles of all slices. The limit of each role is that of its LeaderWorkerSet.
void check_pods(const DisaggregatedSetSpec& spec, FieldErrors& errors) {
  std::int64_t pods = 0;  // Those of one slice.
  for (const RoleSpec& role : spec.roles) {
    const std::int64_t size = leaderworkerset::GroupTemplate::read(*role.json).size;
    if (role.replicas > rules::kMaxPods || size > rules::kMaxPods) return;  // Refused as those of its set.
    pods += (role.external ? 1 : role.replicas) * size;
  }
  if (pods <= rules::kMaxPods / spec.slices) return;
  errors.push_back(invalid_value(
      "spec.slices", spec.slices,
      fmt::format("slices of {} pods would be {} pods, the maximum is {}", pods, pods * spec.slices, rules::kMaxPods),
      kOurRule));
}

/// Path of an annotation of exclusive placement in a role; empty if it has none.
std::string exclusive_annotation(const Json& role) {
  for (const std::string_view key :
       {leaderworkerset::kExclusiveTopology, leaderworkerset::kSubgroupExclusiveTopology}) {
    if (find_path(role, {"metadata", "annotations", key}) != nullptr)
      return fmt::format("metadata.annotations[{}]", key);
    for (const char* pods : {"leaderTemplate", "workerTemplate"}) {
      if (find_path(role, {"spec", "leaderWorkerTemplate", pods, "metadata", "annotations", key}) == nullptr) continue;
      return fmt::format("spec.leaderWorkerTemplate.{}.metadata.annotations[{}]", pods, key);
    }
  }
  return {};
}

void check_placement(const Json& set, const DisaggregatedSetSpec& spec, FieldErrors& errors) {
  if (spec.placement.type == disaggregatedset::PlacementType::kNone) return;
  constexpr std::string_view kTopologyPath = "spec.placementPolicy.topology";
  if (spec.placement.topology.empty()) {
    errors.push_back(required_value(std::string(kTopologyPath), "required unless type is None", kLeaderWorkerSetRule));
  } else {
    // Source: Kubernetes' validation of the affinity terms that it becomes.
    for (const std::string& detail : check_label_key(spec.placement.topology)) {
      errors.push_back(invalid_value(std::string(kTopologyPath), spec.placement.topology, detail, kKubernetesRule));
    }
  }
  for (std::size_t i = 0; i < spec.roles.size(); ++i) {
    const std::string path = exclusive_annotation(*spec.roles[i].json);
    if (path.empty()) continue;
    errors.push_back(
        forbidden(role_path(i, path),
                  fmt::format("must not be combined with spec.placementPolicy.type {}: leave out one of them",
                              string_at(set, {"spec", "placementPolicy", "type"})),
                  kLeaderWorkerSetRule));
  }
}

void check_set(const Json& set, FieldErrors& errors) {
  const DisaggregatedSetSpec spec = DisaggregatedSetSpec::read(set);
  check_shapes(set, kShapes, kLeaderWorkerSetRule, errors);
  const Json* roles = find_set(set, {"spec", "roles"});
  if (roles == nullptr || !roles->is_array()) return;
  if (roles->size() < disaggregatedset::kMinRoles) {
    errors.push_back(invalid_value(
        "spec.roles", roles->size(),
        fmt::format("must have at least {} roles; one role is a LeaderWorkerSet", disaggregatedset::kMinRoles),
        kLeaderWorkerSetRule));
  }
  check_slices(set, errors);
  check_roles(spec, errors);
  check_paused_roles(spec, errors);
  check_external_slices(spec, errors);
  check_pods(spec, errors);
  check_placement(set, spec, errors);
}

}  // namespace

FieldErrors validate_disaggregatedset(const Json& set, const Json* old) {
  if (!set.is_object()) return {invalid_value("spec", set, "must be an object", kKubernetesRule)};
  // The garbage collector must be able to remove finalizers, also of invalid sets that were stored without a webhook.
  if (old != nullptr && find_set(set, {"metadata", "deletionTimestamp"}) != nullptr) return {};
  FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](FieldErrors& errors) { check_set(*old, errors); };
  return new_errors([&](FieldErrors& errors) { check_set(set, errors); }, check_stored);
}

}  // namespace tpuslice::rules
