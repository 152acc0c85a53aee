#include "controllers/disaggregatedset/scalers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/disaggregatedset/children.h"
#include "controllers/plan/child.h"

namespace tpuslice::disaggregatedset {
namespace {

std::int64_t first_replicas(const DisaggregatedSetState& state, const std::string& role) {
  std::int64_t sum = 0;
  bool found = false;
  for (const RoleSet& set : state.sets) {
    if (set.role != role) continue;
    found = true;
    sum += set.replicas;
  }
  return found ? sum : 1;
}

void decide_new(const DisaggregatedSetState& state, const std::string& role, ScalerDecisions& out) {
  const std::int64_t replicas = first_replicas(state, role);
  const Json desired = build_scaler(state.spec, role, replicas);
  const ObjectView* live = state.find_scaler(scaler_name(state.spec.key.name, role));
  plan::ChildDecision decision = plan::decide_by_owner(desired, live, [](const Json&) { return Json(); });
  switch (decision.kind) {
    case plan::ChildDecision::Kind::kCreate:
      out.create.push_back({role, replicas});
      out.replicas[role] = replicas;
      return;
    case plan::ChildDecision::Kind::kConflict:
      out.conflicts.push_back(std::move(decision.conflict));
      return;
    case plan::ChildDecision::Kind::kNone:
    case plan::ChildDecision::Kind::kPatch:  // Ours, with the labels of another role.
    case plan::ChildDecision::Kind::kWait:
      out.waits = true;
      return;
  }
}

}  // namespace

ScalerDecisions decide_scalers(const DisaggregatedSetState& state) {
  ScalerDecisions out;
  for (const RoleScaler& scaler : state.scalers) {
    const RoleSpec* role = state.spec.find_role(scaler.role);
    if (role == nullptr || !role->external) {
      if (!scaler.view->deletion) out.remove.push_back(&scaler);
    } else if (!scaler.view->deletion && out.existing.try_emplace(scaler.role, &scaler).second) {
      out.replicas[scaler.role] = scaler.replicas;
    }
  }
  for (const RoleSpec& role : state.spec.roles) {
    if (role.external && !out.existing.contains(role.name)) decide_new(state, role.name, out);
  }
  return out;
}

std::optional<std::int64_t> desired_replicas(const RoleSpec& role, const ScalerDecisions& scalers) {
  if (!role.external) return role.replicas;
  const auto found = scalers.replicas.find(role.name);
  return found == scalers.replicas.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tpuslice::disaggregatedset
