#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "controllers/disaggregatedset/rules/revision.h"
#include "controllers/disaggregatedset/rules/role_set.h"
#include "controllers/disaggregatedset/rules/validator.h"
#include "controllers/leaderworkerset/rules/group_slices.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "tpu/labels.h"
#include "tpu/rules/field_changes.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

using disaggregatedset::DisaggregatedSetSpec;
using disaggregatedset::role_path;
using disaggregatedset::RoleSpec;

void warn_role(const DisaggregatedSetSpec& spec, std::size_t index, std::vector<std::string>& warnings) {
  const RoleSpec& role = spec.roles[index];
  if (role.external && role.replicas > 1) {
    warnings.push_back(fmt::format("{}: is ignored with scaling.mode: External; scale DisaggregatedSetRoleScaler {}",
                                   role_path(index, "spec.replicas"),
                                   disaggregatedset::scaler_name(spec.key.name, role.name)));
  }
  for (const std::string& warning : warn_leaderworkerset(disaggregatedset::role_set(spec, role))) {
    warnings.push_back(role_path(index, warning));  // It begins with the path.
  }
}

/// A slice of several hosts has a node pool for itself.
void warn_placement(const DisaggregatedSetSpec& spec, std::vector<std::string>& warnings) {
  if (!spec.placement.active() || spec.placement.topology != tpu::kNodePoolLabel) return;
  for (const RoleSpec& role : spec.roles) {
    const leaderworkerset::GroupTemplate shape = leaderworkerset::GroupTemplate::read(*role.json);
    const TpuGroup group(shape);
    const Json* pod = group.workers_have_tpus ? shape.worker : group.leader_has_tpus ? shape.leader : nullptr;
    if (pod == nullptr || tpu::selected_hosts(*pod).value_or(1) == 1) continue;
    warnings.push_back(fmt::format(
        "spec.placementPolicy.topology: the slices of role {} have a node pool each, so the roles cannot be "
        "together in one",
        role.name));
    return;
  }
}

/// A step of a rollout adds replicas of a role without a surge before it takes old ones away, if another role has one.
void warn_surge(const DisaggregatedSetSpec& spec, std::vector<std::string>& warnings) {
  const RoleSpec* without = nullptr;  // With TPUs.
  const RoleSpec* with = nullptr;
  for (const RoleSpec& role : spec.roles) {
    const leaderworkerset::GroupTemplate shape = leaderworkerset::GroupTemplate::read(*role.json);
    const TpuGroup group(shape);
    if (role.limits(role.replicas).surge > 0) {
      with = &role;
    } else if (group.leader_has_tpus || group.workers_have_tpus) {
      without = &role;
    }
  }
  if (with == nullptr || without == nullptr) return;
  warnings.push_back(fmt::format(
      "spec.roles: role {} has maxSurge: 0 and role {} has a surge: a rollout then needs free nodes for one "
      "replica of {}, too; set maxSurge: 0 for all roles, or for none",
      without->name, with->name, without->name));
}

/// A LeaderWorkerSet that exists keeps all but its replicas.
bool waits_for_revision(const FieldChange& change) {
  if (change.path.starts_with("spec.placementPolicy")) return true;
  if (change.path.ends_with("].spec.leaderWorkerTemplate.maxGroupRestarts")) return true;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"].metadata", "].spec.startupPolicy",
                                                                     "].spec.networkConfig", "].spec.rolloutStrategy."},
                             [&](std::string_view field) { return change.path.find(field) != std::string::npos; }) &&
         change.path.find(".leaderWorkerTemplate.") == std::string::npos &&
         change.path.find(".rollingUpdateConfiguration.") == std::string::npos;
}

void warn_changes(const Json& set, const Json& old, const DisaggregatedSetSpec& spec,
                  std::vector<std::string>& warnings) {
  const Json* before = find_set(old, {"spec"});
  const Json* after = find_set(set, {"spec"});
  if (before == nullptr || after == nullptr) return;
  if (disaggregatedset::compute_revision(DisaggregatedSetSpec::read(old)) != disaggregatedset::compute_revision(spec))
    return;
  for_each_change(*before, *after, "spec", [&](const FieldChange& change) {
    if (!waits_for_revision(change)) return;
    warnings.push_back(
        fmt::format("{}: takes effect with the next change of a leaderWorkerTemplate, which rolls out", change.path));
  });
}

}  // namespace

std::vector<std::string> warn_disaggregatedset(const Json& set, const Json* old) {
  std::vector<std::string> warnings;
  const DisaggregatedSetSpec spec = DisaggregatedSetSpec::read(set);
  for (std::size_t i = 0; i < spec.roles.size(); ++i) {
    if (spec.roles[i].json->is_object()) warn_role(spec, i, warnings);
  }
  warn_placement(spec, warnings);
  warn_surge(spec, warnings);
  if (old != nullptr) warn_changes(set, *old, spec, warnings);
  return warnings;
}

}  // namespace tpuslice::rules
