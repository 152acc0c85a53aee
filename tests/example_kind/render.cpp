#include "tests/example_kind/render.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/plan/changes.h"
#include "tests/example_kind/fleet_status.h"
#include "tests/example_kind/rules/fleet_labels.h"

namespace tpuslice::example {
namespace {

using plan::Action;
using plan::Changes;
using Kind = plan::ChildDecision::Kind;

/// The stages of a plan.
enum class Step : std::uint8_t { kDeletes, kResources, kPods };

/// Deletes the pods; `events` are reported once after all of these deletes.
void delete_pods(const std::vector<PodPtr>& pods, plan::ActionEvents events, Changes& changes) {
  std::vector<Action> actions;
  for (const PodPtr& pod : pods) {
    Action& action = actions.emplace_back(Action::remove(kPods, pod->key, {.uid = pod->uid}));
    action.failure_reason = kPodFailed;
  }
  changes.add(Step::kDeletes, std::move(actions), std::move(events));
}

/// Creates or restores the service or the ConfigMap. `uid`: that of the live object.
void render_child(const ResourceType& type, const Json& desired, const plan::ChildDecision& decision,
                  const std::string& uid, std::string_view failure_reason, Changes& changes) {
  const ObjectKey key = Object(desired).key();
  if (decision.kind == Kind::kCreate) {
    Action action = Action::create(type, Object(desired));
    action.failure_reason = failure_reason;
    changes.add(Step::kResources, std::move(action));
    changes.reasons.push_back(fmt::format("{} {} is missing: creating it", type.kind, key.name));
  } else if (decision.kind == Kind::kPatch) {
    Action action = Action::patch(type, key, decision.patch, {.uid = uid});
    action.failure_reason = failure_reason;
    changes.add(Step::kResources, std::move(action));
    changes.reasons.push_back(fmt::format("{} {} differs: restoring it", type.kind, key.name));
  } else if (decision.kind == Kind::kConflict || decision.kind == Kind::kWait) {
    changes.requeue_within(plan::kConflictRetry);
  }
}

void render_creations(const FleetSpec& spec, const std::vector<HostIndex>& create,
                      const std::shared_ptr<const PodBuilder>& builder, Changes& changes) {
  std::vector<std::string> names;
  for (const HostIndex index : create) {
    const ObjectKey key{spec.key.namespace_name, pod_name(spec.key.name, index)};
    Action action = Action::create(kPods, key, [builder, index] { return builder->build(index); });
    action.failure_reason = kPodFailed;
    changes.add(Step::kPods, std::move(action));
    names.push_back(key.name);
  }
  if (!names.empty()) changes.reasons.push_back("creating pods " + plan::join_names(names));
}

}  // namespace

plan::Plan render(const FleetState& state, const Decisions& decisions,
                  const std::shared_ptr<const PodBuilder>& builder) {
  const FleetObserved& seen = state.seen;
  Changes changes;
  // A failed delete holds back later stages, but not the other deletes.
  changes.stage(Step::kDeletes).independent = true;
  delete_pods(decisions.surplus, {}, changes);
  if (!decisions.surplus.empty()) {
    changes.reasons.push_back(fmt::format("deleting {} surplus pods", decisions.surplus.size()));
  }
  for (const ShipRestart& restart : decisions.restarts) {
    std::string text = fmt::format("{}: restarting ship {}", restart.why, ship_name(state.spec.key.name, restart.ship));
    delete_pods(restart.pods,
                {.on_success = {{plan::EventType::kWarning, "ShipRestarted", "Reconciling", text}},
                 .measurements = {plan::increment(kShipRestarts)}},
                changes);
    changes.reasons.push_back(std::move(text));
  }
  render_child(kServices, build_service(state.spec), decisions.service, seen.service ? seen.service->uid : "",
               kServiceFailed, changes);
  render_child(kConfigMaps, build_flag(state.spec), decisions.flag, seen.flag ? seen.flag->uid : "", kFlagFailed,
               changes);
  render_creations(state.spec, decisions.create, builder, changes);
  Json status = next_status(state, decisions, changes);
  return plan::to_plan(std::move(changes), plan::status_of(seen.fleet), std::move(status));
}

plan::Plan render_refusal(const FleetState& state, const Problem& refusal) {
  Changes changes;
  changes.reasons.push_back("the spec is refused: " + refusal.message);
  Json status = refused_status(state, refusal, changes);
  return plan::to_plan(std::move(changes), plan::status_of(state.seen.fleet), std::move(status));
}

}  // namespace tpuslice::example
