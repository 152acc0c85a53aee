#include "controllers/disaggregatedset/decisions.h"

#include <utility>

#include "api/types/conditions.h"
#include "controllers/disaggregatedset/children.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"

namespace tpuslice::disaggregatedset {
namespace {

/// Replicas of all slices and revisions: an autoscaler divides by what serves.
std::int64_t current_replicas(const DisaggregatedSetState& state, const std::string& role) {
  std::int64_t sum = 0;
  for (const RoleSet& set : state.sets) {
    if (set.role == role) sum += set.current;
  }
  return sum;
}

Json next_scaler_status(const DisaggregatedSetState& state, const RoleScaler& scaler, const Object& object) {
  Json status = plan::status_of(object);
  if (!status.is_object()) status = Json::object();
  status["replicas"] = current_replicas(state, scaler.role);
  status["selector"] = scaler_selector(state.spec, scaler.role);
  status["observedGeneration"] = object.generation();
  Json conditions = array_at(status, {"conditions"});
  set_condition(conditions,
                {std::string(kReady), "True", std::string(kBound), "Scaler bound to a live DisaggregatedSet role",
                 object.generation()},
                state.seen.now);
  status["conditions"] = std::move(conditions);
  return status;
}

void decide_scaler_statuses(const DisaggregatedSetState& state, Decisions& out) {
  for (const auto& [role, scaler] : out.scalers.existing) {
    const Object object = scaler->view->object();
    Json status = next_scaler_status(state, *scaler, object);
    if (status != plan::status_of(object)) out.scaler_statuses.push_back({scaler, std::move(status)});
  }
}

void decide_removed_slices(const DisaggregatedSetState& state, Decisions& out) {
  for (const RoleSet& set : state.sets) {
    if (set.slice >= state.spec.slices && !set.terminating) out.removed.push_back(&set);
  }
}

/// Legacy sets of an older revision are not among them: the rollout replaces those.
void decide_legacy(const DisaggregatedSetState& state, Decisions& out) {
  if (state.spec.slices <= 1) return;
  for (const RoleSet& set : state.sets) {
    if (set.legacy && set.revision == state.revision && !set.terminating) out.legacy.push_back(&set);
  }
}

}  // namespace

std::vector<std::string> Decisions::conflicts() const {
  std::vector<std::string> out = rollout.conflicts;
  out.insert(out.end(), scalers.conflicts.begin(), scalers.conflicts.end());
  for (const RoleService& service : services.services) {
    if (!service.decision.conflict.empty()) out.push_back(service.decision.conflict);
  }
  return out;
}

Decisions decide(const DisaggregatedSetState& state) {
  Decisions out;
  decide_removed_slices(state, out);
  decide_legacy(state, out);
  out.scalers = decide_scalers(state);
  for (std::int64_t slice = 0; slice < state.spec.slices; ++slice) {
    if (slice == 0 && !out.legacy.empty()) continue;  // Created by the next plan.
    decide_slice(state, out.scalers, slice, out.rollout);
  }
  out.services = decide_services(state, !out.legacy.empty());
  decide_scaler_statuses(state, out);
  return out;
}

}  // namespace tpuslice::disaggregatedset
