#include "controllers/rayservice/gateway_render.h"

#include <memory>
#include <utility>

#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using plan::Action;
using Kind = plan::ChildDecision::Kind;

/// When to plan again while the types cannot be watched: no event follows.
constexpr Duration kUnwatchedRetry = std::chrono::seconds(5);

std::string_view failure_reason(const ResourceType& type) {
  return type == kGateways ? kFailedGateway : kFailedHttpRoute;
}

void add(plan::Stage& stage, Action action, plan::ActionEvents events) {
  action.failure_reason = failure_reason(action.type);
  action.events = std::make_shared<const plan::ActionEvents>(std::move(events));
  stage.actions.push_back(std::move(action));
}

void add_child(const GatewayChild& child, plan::Stage& stage, plan::Changes& changes) {
  const plan::ChildDecision& decision = child.decision;
  const ObjectKey key = child.desired.key();
  const std::string name = key.to_string();
  const std::string_view kind = child.type.kind;
  switch (decision.kind) {
    case Kind::kConflict:
      changes.reasons.push_back(decision.conflict);
      return changes.requeue_within(plan::kConflictRetry);
    case Kind::kCreate:
      changes.reasons.push_back(fmt::format("creating {} {}", kind, key.name));
      return add(
          stage, Action::create(child.type, child.desired),
          plan::result_events({fmt::format("Created{}", kind), fmt::format("Created {} for RayService {}", kind, name)},
                              {fmt::format("FailedToCreate{}", kind),
                               fmt::format("Failed to create {} for RayService {}", kind, name)}));
    case Kind::kPatch:
      changes.reasons.push_back(fmt::format("updating {} {}", kind, key.name));
      return add(stage, Action::patch(child.type, key, decision.patch, child.preconditions),
                 plan::result_events(
                     {fmt::format("Updated{}", kind), fmt::format("Updated the {} {}", kind, name)},
                     {fmt::format("FailedToUpdate{}", kind), fmt::format("Failed to update the {} {}", kind, name)}));
    case Kind::kNone:
    case Kind::kWait:
      return;
  }
}

}  // namespace

plan::Action delete_gateway(const OwnGateway& gateway, const std::string& why, plan::Changes& changes) {
  const ObjectKey& key = gateway.live->key;
  const std::string_view kind = gateway.type.kind;
  changes.reasons.push_back(fmt::format("{}: deleting {} {}", why, kind, key.name));
  // One that was orphaned meanwhile has another version.
  Action out =
      Action::remove(gateway.type, key, {.uid = gateway.live->uid, .resource_version = gateway.live->resource_version});
  out.failure_reason = failure_reason(gateway.type);
  out.events = std::make_shared<const plan::ActionEvents>(plan::result_events(
      {fmt::format("Deleted{}", kind), fmt::format("Deleted the {} {}: {}", kind, key.to_string(), why)},
      {fmt::format("FailedToDelete{}", kind), fmt::format("Failed to delete the {} {}", kind, key.to_string())}));
  return out;
}

void add_gateways(const RayServiceState& state, const GatewayDecision& decision, plan::Stage& stage,
                  plan::Changes& changes) {
  // What later stages delete is not in the observed route.
  stage.independent = true;
  stage.continue_on_failure = true;
  for (const GatewayChild& child : decision.children) add_child(child, stage, changes);
  for (const OwnGateway& gateway : decision.deletes) {
    const std::string why = fmt::format("upgradeStrategy.type is not {}", kIncrementalUpgrade);
    stage.actions.push_back(delete_gateway(gateway, why, changes));
  }
  if (decision.retry_after) {
    changes.keeps_failure = true;
    changes.requeue_within(*decision.retry_after);
  }
  if (state.spec.incremental && !state.seen.gateways.watched) changes.requeue_within(kUnwatchedRetry);
}

}  // namespace tpuslice::rayservice
