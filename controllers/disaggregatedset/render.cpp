#include "controllers/disaggregatedset/render.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/disaggregatedset/disaggregatedset_status.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/changes.h"

namespace tpuslice::disaggregatedset {
namespace {

using leaderworkerset::kLeaderWorkerSets;
using plan::Action;
using plan::Changes;
using plan::EventType;
using Kind = plan::ChildDecision::Kind;

/// The stages of a plan. A write that is refused, for instance by a policy, holds back only those that depend on it.
enum class Step : std::uint8_t {
  kLegacyServices,
  kDeletes,
  kScalers,
  kServices,
  kServiceDeletes,
  kScalerStatuses,
  kSets,
  kScaleDown,
  kScaleUp,
  kExchange,  ///< Fewer replicas, for which those of kScaleUp take over.
  kRecords,
  kNewRevisions,  ///< What the old revisions had is recorded before there is a new one.
};

plan::Stage& independent_stage(Step step, Changes& changes) {
  plan::Stage& stage = changes.stage(step);
  stage.independent = true;
  stage.continue_on_failure = true;
  return stage;
}

/// An event once the action has succeeded.
plan::ActionEvents events(std::string_view action, std::string_view reason, std::string message) {
  plan::ActionEvents out;
  out.on_success.push_back({EventType::kNormal, std::string(reason), std::string(action), std::move(message)});
  return out;
}

void delete_set(const RoleSet& set, std::string_view action, std::string message, Changes& changes) {
  Action removal = Action::remove(kLeaderWorkerSets, set.key, {.uid = set.uid});
  removal.failure_reason = kFailedLeaderWorkerSet;
  changes.reasons.push_back(fmt::format("deleting LeaderWorkerSet {}", set.key.name));
  changes.add(Step::kDeletes, std::move(removal), events(action, "LWSDeleted", std::move(message)));
}

void render_deletes(const DisaggregatedSetState& state, const Decisions& decisions, Changes& changes) {
  // A service of a legacy set would select the pods of new slices.
  independent_stage(Step::kDeletes, changes).continue_on_failure = decisions.legacy.empty();
  for (const RoleSet* set : decisions.removed) {
    delete_set(*set, "Delete", fmt::format("Deleted LWS {} for removed slice {}", set->key.name, set->slice), changes);
  }
  for (const RoleSet* set : decisions.rollout.drained) {
    delete_set(*set, "Delete", fmt::format("Deleted drained LWS {}", set->key.name), changes);
  }
  for (const RoleSet* set : decisions.legacy) {
    const ServiceView* service = state.find_service(service_name(set->key.name));
    if (service != nullptr && state.owns(service->controller) && !service->deletion) {
      Action removal = Action::remove(kServices, service->key, {.uid = service->uid});
      removal.failure_reason = kFailedService;
      changes.add(Step::kLegacyServices, std::move(removal));
    }
    delete_set(*set, "Migrate",
               fmt::format("Deleted legacy slice-0 LWS {} to recreate it in slice-aware form", set->key.name), changes);
  }
}

void render_scalers(const DisaggregatedSetState& state, const ScalerDecisions& scalers, Changes& changes) {
  independent_stage(Step::kScalers, changes);
  for (const RoleScaler* scaler : scalers.remove) {
    Action removal = Action::remove(kRoleScalers, scaler->view->key, {.uid = scaler->view->uid});
    removal.failure_reason = kFailedRoleScaler;
    const std::string& name = scaler->view->key.name;
    changes.add(Step::kScalers, std::move(removal),
                events("Delete", "ScalerDeleted",
                       fmt::format("Deleted scaler {} (role {} is no longer External)", name, scaler->role)));
    changes.reasons.push_back(fmt::format("role {} is not External: deleting its scaler {}", scaler->role, name));
  }
  for (const NewScaler& scaler : scalers.create) {
    Action creation = Action::create(kRoleScalers, Object(build_scaler(state.spec, scaler.role, scaler.replicas)));
    creation.failure_reason = kFailedRoleScaler;
    const std::string name = creation.key.name;
    changes.add(Step::kScalers, std::move(creation),
                events("Create", "ScalerCreated", fmt::format("Created scaler {} for role {}", name, scaler.role)));
    changes.reasons.push_back(fmt::format("creating scaler {} with {} replicas", name, scaler.replicas));
  }
}

void render_records(const std::vector<const RoleSet*>& record, Changes& changes) {
  changes.stage(Step::kRecords).independent = true;
  for (const RoleSet* set : record) {
    Json annotations = Json::object();
    annotations[std::string(kInitialReplicas)] = std::to_string(set->replicas);
    Action patch = Action::patch(kLeaderWorkerSets, set->key, {{"metadata", {{"annotations", std::move(annotations)}}}},
                                 {.uid = set->uid});
    patch.failure_reason = kFailedLeaderWorkerSet;
    changes.add(Step::kRecords, std::move(patch));
  }
}

void render_creations(const DisaggregatedSetState& state, const std::vector<NewSet>& create,
                      const std::shared_ptr<const SetBuilder>& builder, Changes& changes) {
  independent_stage(Step::kSets, changes);
  independent_stage(Step::kNewRevisions, changes);
  for (const NewSet& set : create) {
    const DisaggregatedSetSpec& spec = state.spec;
    const ObjectKey key{spec.key.namespace_name,
                        set_name(spec.key.name, set.slice, state.revision, spec.roles[set.role].name)};
    Action creation = Action::create(kLeaderWorkerSets, key, [builder, set]() -> Result<Json> {
      return builder->build(set.role, set.slice, set.replicas);
    });
    creation.failure_reason = kFailedLeaderWorkerSet;
    changes.add(set.begins ? Step::kNewRevisions : Step::kSets, std::move(creation));
    changes.reasons.push_back(fmt::format("creating LeaderWorkerSet {} with {} replicas", key.name, set.replicas));
  }
}

void render_scaling(const Scaling& scaling, Step step, Changes& changes) {
  const RoleSet& set = *scaling.set;
  Action patch =
      Action::patch(kLeaderWorkerSets, set.key, {{"spec", {{"replicas", scaling.replicas}}}}, {.uid = set.uid});
  patch.failure_reason = kFailedLeaderWorkerSet;
  const bool up = scaling.replicas > set.replicas;
  changes.reasons.push_back(
      fmt::format("scaling LeaderWorkerSet {} from {} to {} replicas", set.key.name, set.replicas, scaling.replicas));
  changes.add(step, std::move(patch),
              events("Update", up ? "ScalingUp" : "ScalingDown",
                     fmt::format("Scaling {} {} LWS {} from {} to {} replicas", up ? "up" : "down", set.role,
                                 set.key.name, set.replicas, scaling.replicas)));
}

void render_rollout(const DisaggregatedSetState& state, const RolloutDecisions& rollout,
                    const std::shared_ptr<const SetBuilder>& builder, Changes& changes) {
  const auto report = [&](std::string_view reason, std::string_view begin, std::int64_t slice) {
    changes.events.push_back({EventType::kNormal, std::string(reason), "Update",
                              fmt::format("{} rolling update to revision {}{}", begin, state.revision,
                                          state.spec.slices > 1 ? fmt::format(" of slice {}", slice) : std::string())});
  };
  for (const std::int64_t slice : rollout.started) report("RollingUpdateStarted", "Started", slice);
  if (!rollout.started.empty()) changes.reasons.push_back("rolling out revision " + state.revision);
  for (const std::int64_t slice : rollout.completed) report("RollingUpdateCompleted", "Completed", slice);
  render_records(rollout.record, changes);
  render_creations(state, rollout.create, builder, changes);
  independent_stage(Step::kScaleUp, changes).continue_on_failure = rollout.exchange.empty();
  independent_stage(Step::kScaleDown, changes);
  independent_stage(Step::kExchange, changes);
  for (const Scaling& scaling : rollout.scale_up) render_scaling(scaling, Step::kScaleUp, changes);
  for (const Scaling& scaling : rollout.exchange) render_scaling(scaling, Step::kExchange, changes);
  for (const Scaling& scaling : rollout.scale_down) render_scaling(scaling, Step::kScaleDown, changes);
  if (rollout.terminating) changes.requeue_within(plan::kConflictRetry);
}

void render_services(const ServiceDecisions& services, Changes& changes) {
  independent_stage(Step::kServices, changes);
  independent_stage(Step::kServiceDeletes, changes);
  for (const RoleService& service : services.services) {
    const ObjectKey key = Object(service.desired).key();
    const Kind kind = service.decision.kind;
    if (kind == Kind::kWait) changes.requeue_within(plan::kConflictRetry);
    if (kind != Kind::kCreate && kind != Kind::kPatch) continue;
    Action action = kind == Kind::kCreate ? Action::create(kServices, Object(service.desired))
                                          : Action::patch(kServices, key, service.decision.patch, {.uid = service.uid});
    action.failure_reason = kFailedService;
    changes.add(Step::kServices, std::move(action));
    changes.reasons.push_back(fmt::format("{} service {}", kind == Kind::kCreate ? "creating" : "restoring", key.name));
  }
  for (const ServicePtr& service : services.remove) {
    Action removal = Action::remove(kServices, service->key, {.uid = service->uid});
    removal.failure_reason = kFailedService;
    changes.add(Step::kServiceDeletes, std::move(removal));
    changes.reasons.push_back(fmt::format("deleting service {}", service->key.name));
  }
}

/// The conditions are a list, which a patch replaces.
void render_scaler_statuses(const std::vector<ScalerStatus>& statuses, Changes& changes) {
  independent_stage(Step::kScalerStatuses, changes);
  for (const ScalerStatus& each : statuses) {
    const ObjectView& view = *each.scaler->view;
    Action patch = Action::patch(kRoleScalers, view.key, {{"status", each.status}},
                                 {.uid = view.uid, .resource_version = view.resource_version});
    patch.subresource = "status";
    patch.failure_reason = kFailedRoleScaler;
    changes.add(Step::kScalerStatuses, std::move(patch));
    changes.reasons.push_back(fmt::format("status of scaler {}", view.key.name));
  }
}

}  // namespace

plan::Plan render(const DisaggregatedSetState& state, const Decisions& decisions,
                  const std::shared_ptr<const SetBuilder>& builder) {
  Changes changes;
  render_deletes(state, decisions, changes);
  render_scalers(state, decisions.scalers, changes);
  render_rollout(state, decisions.rollout, builder, changes);
  render_services(decisions.services, changes);
  render_scaler_statuses(decisions.scaler_statuses, changes);
  if (decisions.scalers.waits || !decisions.conflicts().empty()) changes.requeue_within(plan::kConflictRetry);
  const Json before = plan::status_of(state.seen.set);
  Json status = next_status(state, decisions, changes);
  return plan::to_plan(std::move(changes), before, std::move(status));
}

plan::Plan render_refusal(const DisaggregatedSetState& state, const Problem& refusal) {
  Changes changes;
  changes.reasons.push_back("the spec is refused: " + refusal.message);
  Json status = refused_status(state, refusal, changes);
  return plan::to_plan(std::move(changes), plan::status_of(state.seen.set), std::move(status));
}

}  // namespace tpuslice::disaggregatedset
