#include "controllers/disaggregatedset/disaggregatedset_status.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::disaggregatedset {
namespace {

using plan::EventType;
using Kind = plan::ChildDecision::Kind;

// Upstream's messages. That of Progressing is followed by what is missing.
constexpr std::string_view kAllReadyMessage =
    "All roles have reached their desired replica count, ready and updated to the current revision";
constexpr std::string_view kProgressMessage =
    "Not all roles have reached their desired replica count, ready and updated to the current revision";

/// Replicas of a role in all slices and revisions.
struct RoleCounts {
  std::string role;
  std::int64_t replicas = 0;
  std::int64_t ready = 0;
  std::int64_t updated = 0;  ///< Those of the desired revision.
};

std::vector<RoleCounts> count_roles(const DisaggregatedSetState& state) {
  std::vector<RoleCounts> out;
  for (const RoleSpec& role : state.spec.roles) {
    RoleCounts& counts = out.emplace_back(RoleCounts{role.name});
    for (const RoleSet& set : state.sets) {
      if (set.role != role.name) continue;
      counts.replicas += set.current;
      counts.ready += set.ready;
      if (set.revision == state.revision) counts.updated += set.updated;
    }
  }
  return out;
}

/// What a role lacks; empty if it has its replicas.
std::string missing_of(const RoleCounts& counts, const std::optional<std::int64_t>& desired) {
  if (!desired) return fmt::format("role {} has no scaler", counts.role);
  if (counts.replicas == *desired && counts.ready == *desired && counts.updated == *desired) return {};
  return fmt::format("role {}: {} replicas, {} ready, {} updated, {} desired", counts.role, counts.replicas,
                     counts.ready, counts.updated, *desired);
}

/// Why the set is not available; empty if it is.
std::string progress_of(const DisaggregatedSetState& state, const Decisions& decisions,
                        const std::vector<RoleCounts>& counts) {
  std::string text;
  const auto append = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : "; ") + part; };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::optional<std::int64_t> desired = desired_replicas(state.spec.roles[i], decisions.scalers);
    if (desired) *desired *= state.spec.slices;
    append(missing_of(counts[i], desired));
  }
  if (!text.empty() && !decisions.rollout.waits.empty())
    append("the rollout waits: " + decisions.rollout.waits.front());
  return text;
}

/// One of Available and Progressing is True; the other becomes False for the same reason, and keeps it.
void set_progress(Json& conditions, const std::string& missing, std::int64_t generation, Timestamp now) {
  const bool available = missing.empty();
  const std::string_view type = available ? kAvailable : kProgressing;
  const std::string_view other = available ? kProgressing : kAvailable;
  const std::string reason(available ? kAllRolesReady : kRolloutInProgress);
  const std::string message =
      available ? std::string(kAllReadyMessage) : fmt::format("{}: {}", kProgressMessage, missing);
  set_condition(conditions, {std::string(type), "True", reason, message, generation}, now);
  if (is_condition_true(conditions, other)) {
    set_condition(conditions, {std::string(other), "False", reason, message, generation}, now);
  }
}

Problem children_problem(const DisaggregatedSetState& state, const Decisions& decisions) {
  if (const std::vector<std::string> conflicts = decisions.conflicts(); !conflicts.empty()) {
    return {"NameConflict", fmt::format("{}; delete it, or create the DisaggregatedSet with another name",
                                        plan::join_names(conflicts))};
  }
  if (const auto& failure = state.seen.last_failure) {
    for (const std::string_view reason : {kFailedLeaderWorkerSet, kFailedRoleScaler, kFailedService}) {
      if (failure->reason == reason) return {failure->reason, failure->message};
    }
  }
  std::vector<std::string> pending;
  pending.reserve(decisions.rollout.create.size());
  for (const NewSet& set : decisions.rollout.create) {
    pending.push_back(
        fmt::format("LeaderWorkerSet {} is being created",
                    set_name(state.spec.key.name, set.slice, state.revision, state.spec.roles[set.role].name)));
  }
  for (const NewScaler& scaler : decisions.scalers.create) {
    pending.push_back(fmt::format("scaler {} is being created", scaler_name(state.spec.key.name, scaler.role)));
  }
  if (decisions.rollout.terminating || decisions.scalers.waits || !decisions.legacy.empty()) {
    pending.emplace_back("children with the names of new ones are being deleted");
  }
  for (const RoleService& service : decisions.services.services) {
    if (service.decision.kind == Kind::kNone || service.decision.kind == Kind::kConflict) continue;
    pending.push_back(fmt::format("service {} is being created or restored", Object(service.desired).name()));
  }
  if (!pending.empty()) return {"ChildrenPending", plan::join_names(pending)};
  return {};
}

/// The problem of the first LeaderWorkerSet with replicas that has one; one that reports nothing yet is pending.
Problem first_problem(const DisaggregatedSetState& state, bool RoleSet::*is, Problem RoleSet::*problem,
                      std::string_view pending) {
  for (const RoleSpec& role : state.spec.roles) {
    for (std::int64_t slice = 0; slice < state.spec.slices; ++slice) {
      const auto sets = state.slices.find(slice);
      if (sets != state.slices.end() && sets->second.find(state.revision, role.name) != nullptr) continue;
      return {std::string(pending), fmt::format("LeaderWorkerSet {} is to be created",
                                                set_name(state.spec.key.name, slice, state.revision, role.name))};
    }
  }
  for (const RoleSet& set : state.sets) {
    if (set.slice >= state.spec.slices || set.replicas == 0 || set.*is) continue;
    if (set.*problem) return set.*problem;
    return {std::string(pending), fmt::format("LeaderWorkerSet {} has no status yet", set.key.name)};
  }
  return {};
}

void set_waiting(const DisaggregatedSetState& state, Json& conditions, plan::Changes& changes) {
  const Timestamp now = state.seen.now;
  const std::int64_t generation = state.spec.generation;
  const Problem waits = first_problem(state, &RoleSet::placed, &RoleSet::waits, "PodsPending");
  if (plan::begins_to_wait(conditions, waits)) changes.event(EventType::kNormal, plan::kSliceWaiting, waits.message);
  plan::set_own_condition(conditions, plan::kSlicesPlaced, waits, "the slices of all LeaderWorkerSets are placed",
                          generation, now);
  const Problem stuck = first_problem(state, &RoleSet::started, &RoleSet::stuck, "ContainersPending");
  plan::set_own_condition(conditions, plan::kContainersStarted, stuck,
                          "the containers of all LeaderWorkerSets have started", generation, now);
}

Json object_or_empty(Json status) { return status.is_object() ? std::move(status) : Json::object(); }

}  // namespace

Json next_status(const DisaggregatedSetState& state, const Decisions& decisions, plan::Changes& changes) {
  Json status = object_or_empty(plan::status_of(state.seen.set));
  const std::int64_t generation = state.spec.generation;
  const Timestamp now = state.seen.now;
  const std::vector<RoleCounts> counts = count_roles(state);
  Json roles = Json::array();
  for (const RoleCounts& role : counts) {
    roles.push_back({{"name", role.role},
                     {"replicas", role.replicas},
                     {"readyReplicas", role.ready},
                     {"updatedReplicas", role.updated}});
  }
  status["observedGeneration"] = generation;
  status["roleStatuses"] = std::move(roles);
  Json conditions = array_at(status, {"conditions"});
  set_progress(conditions, progress_of(state, decisions, counts), generation, now);
  plan::set_accepted(conditions, {}, generation, now);
  const Problem children = children_problem(state, decisions);
  const bool changed =
      plan::set_own_condition(conditions, plan::kChildrenReady, children, "all children exist", generation, now);
  if (changed && children.reason == "NameConflict") {
    changes.event(
        EventType::kWarning,
        decisions.rollout.conflicts.empty() && !decisions.scalers.conflicts.empty() ? "ScalerConflict" : "NameConflict",
        children.message);
  }
  set_waiting(state, conditions, changes);
  plan::set_observed_generation(conditions, generation);
  status["conditions"] = std::move(conditions);
  return status;
}

Json refused_status(const DisaggregatedSetState& state, const Problem& refusal, plan::Changes& changes) {
  Json status = object_or_empty(plan::status_of(state.seen.set));
  const std::int64_t generation = state.spec.generation;
  Json conditions = array_at(status, {"conditions"});
  if (plan::set_accepted(conditions, refusal, generation, state.seen.now)) {
    changes.event(EventType::kWarning, "InvalidDisaggregatedSetSpec", refusal.message);
  }
  if (find_condition(conditions, plan::kChildrenReady) == nullptr) {
    plan::set_own_condition(conditions, plan::kChildrenReady, {"NotAccepted", "the spec is refused"}, {}, generation,
                            state.seen.now);
  }
  plan::update_waiting_conditions({}, {plan::PodProgress::Phase::kRefused}, generation, state.seen.now, conditions);
  plan::set_observed_generation_unless_true(conditions, generation);
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace tpuslice::disaggregatedset
