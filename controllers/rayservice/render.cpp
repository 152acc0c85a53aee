#include "controllers/rayservice/render.h"

#include <string>
#include <utility>

#include "controllers/plan/changes.h"
#include "controllers/plan/finalizers.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/cluster_patches.h"
#include "controllers/rayservice/gateway_render.h"
#include "controllers/rayservice/rayservice_status.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using plan::Action;
using plan::Changes;
using plan::EventType;
using plan::result_events;
using raycluster::kRayClusters;

/// The stages of a plan. A cluster is deleted only after the services select another one.
enum class Step : std::uint8_t {
  kFinalizer,
  kClusterPatches,
  kClusters,
  kPodLabels,
  kServices,
  kGateways,    ///< The HTTPRoute refers to services.
  kRetirement,  ///< The time of deletion counts from when the services select another cluster.
  kDeletes,
  kRelease,
};

void delete_cluster(const Cluster& cluster, const std::string& why, Changes& changes) {
  const ObjectKey& key = cluster.spec.key;
  // A cluster that was orphaned meanwhile has another version.
  Action action = Action::remove(kRayClusters, key,
                                 {.uid = cluster.spec.uid, .resource_version = cluster.object.resource_version()});
  action.failure_reason = kFailedRayCluster;
  changes.add(
      Step::kDeletes, std::move(action),
      result_events({"DeletedRayCluster", fmt::format("Deleted the RayCluster {}: {}", key.to_string(), why)},
                    {"FailedToDeleteRayCluster", fmt::format("Failed to delete the RayCluster {}", key.to_string())}));
  changes.reasons.push_back(fmt::format("{}: deleting RayCluster {}", why, key.name));
}

void add_new_cluster(const RunningDecisions& decisions, Changes& changes) {
  if (decisions.create_after) {
    changes.keeps_failure = true;
    changes.requeue_within(*decisions.create_after);
  }
  if (!decisions.create) return;
  Action action = Action::create(kRayClusters, *decisions.create);
  const ObjectKey key = action.key;
  action.failure_reason = kFailedRayCluster;
  changes.add(
      Step::kClusters, std::move(action),
      result_events({"CreatedRayCluster", fmt::format("Created the RayCluster {}", key.to_string())},
                    {"FailedToCreateRayCluster", fmt::format("Failed to create the RayCluster {}", key.to_string())}));
  // Those that exist are served and deleted even if a quota refuses another.
  changes.stage(Step::kClusters).continue_on_failure = true;
  changes.reasons.push_back(decisions.choice.active == nullptr
                                ? fmt::format("creating RayCluster {}", key.name)
                                : fmt::format("rayClusterConfig has changed: creating RayCluster {}", key.name));
}

void add_update(const Cluster& cluster, const ClusterUpdate& update, ClusterPatches& patches, Changes& changes) {
  if (update.patch.is_null()) return;
  patches.add(cluster, update.patch, true);
  const ObjectKey& key = cluster.spec.key;
  changes.reasons.push_back(fmt::format("{}: updating RayCluster {} in place", update.reason, key.name));
  patches.report(
      cluster,
      result_events({"UpdatedRayCluster", fmt::format("Updated the RayCluster {}: {}", key.to_string(), update.reason)},
                    {"FailedToUpdateRayCluster", fmt::format("Failed to update the RayCluster {}", key.to_string())}));
}

/// Records what a cluster is given and has accepted. With an incremental upgrade also the configuration itself.
void add_record(const RayServiceState& state, const Cluster* cluster, const std::optional<Serving>& serving,
                const ServeGoal& goal, ClusterPatches& patches, Changes& changes) {
  if (!serving || !goal.config) return;
  if (state.spec.incremental) {
    const std::string body = goal.config->json.dump();
    const bool known = serving->accepted || serving->record;
    if (known && body.size() <= kMaxRecordedConfig && cluster->annotation(kServeConfigBody) != body) {
      patches.annotate(*cluster, kServeConfigBody, body);
      if (!serving->record) changes.reasons.push_back(fmt::format("recording what {} serves", cluster->name()));
    }
  }
  if (!serving->record) return;
  const ObjectKey& key = cluster->spec.key;
  patches.annotate(*cluster, kServeConfig, serving->record->to_string());
  const auto report = [&](std::string_view reason, std::string message) {
    patches.report(*cluster,
                   {{{EventType::kNormal, std::string(reason), std::string(plan::kReconciling), std::move(message)}}});
  };
  if (!serving->record->accepted) {
    changes.reasons.push_back(goal.is_step()
                                  ? fmt::format("giving RayCluster {} target_capacity {}", key.name, *goal.capacity)
                                  : fmt::format("giving RayCluster {} serveConfigV2", key.name));
    return;
  }
  if (goal.is_step()) {
    changes.reasons.push_back(fmt::format("RayCluster {} has accepted target_capacity {}", key.name, *goal.capacity));
    report("UpdatedServeTargetCapacity", fmt::format("Updated target_capacity of serve applications to {} for the "
                                                     "RayCluster {}",
                                                     *goal.capacity, key.to_string()));
    return;
  }
  changes.reasons.push_back(fmt::format("RayCluster {} has accepted serveConfigV2", key.name));
  report("UpdatedServeApplications", fmt::format("Updated serve applications to the RayCluster {}", key.to_string()));
}

void add_retirement_times(const RetirementDecision& retirement, ClusterPatches& patches, Changes& changes) {
  ClusterPatches schedules;
  for (const auto& [cluster, time] : retirement.schedules) {
    schedules.annotate(*cluster, kDeleteAfter, time);
    changes.reasons.push_back(
        fmt::format("RayCluster {} is not used any more: it is deleted after {}", cluster->name(), time));
  }
  for (Action& action : schedules.actions()) changes.add(Step::kRetirement, std::move(action));
  for (const Cluster* cluster : retirement.cancelled) {
    patches.annotate(*cluster, kDeleteAfter, nullptr);
    changes.reasons.push_back(fmt::format("RayCluster {} is used again", cluster->name()));
  }
}

void add_label(const ServeLabel& label, bool is_head, Changes& changes) {
  const std::string value = label.serves ? "true" : "false";
  const ObjectKey& key = label.pod->key;
  Json labels = Json::object();
  labels[std::string(raycluster::kServe)] = value;
  Action action = Action::patch(kPods, key, {{"metadata", {{"labels", std::move(labels)}}}}, {.uid = label.pod->uid});
  action.failure_reason = kFailedServeLabel;
  if (is_head) {
    changes.add(
        Step::kPodLabels, std::move(action),
        result_events(
            {"UpdatedHeadPodServeLabel",
             fmt::format("Updated the serve label to \"{}\" for the Head Pod {}", value, key.to_string())},
            {"FailedToUpdateHeadPodServeLabel",
             fmt::format("Failed to update the serve label to \"{}\" for the Head Pod {}", value, key.to_string())}));
  } else {
    changes.add(Step::kPodLabels, std::move(action));
  }
  changes.reasons.push_back(fmt::format("pod {} {}", key.name, label.serves ? "serves" : "does not serve"));
}

void add_labels(const RunningDecisions& decisions, Changes& changes) {
  // Each label is about another pod.
  changes.stage(Step::kPodLabels).independent = true;
  for (const ServeLabel& label : decisions.labels) {
    const auto is_head_of = [&](const Cluster* cluster) { return cluster != nullptr && cluster->head == label.pod; };
    add_label(label, is_head_of(decisions.choice.active) || is_head_of(decisions.choice.pending), changes);
  }
}

void add_service(const Service& service, Changes& changes) {
  using enum plan::ChildDecision::Kind;
  const plan::ChildDecision& decision = service.decision;
  const ObjectKey key = service.desired.key();
  if (decision.kind == kConflict) {
    changes.reasons.push_back(decision.conflict);
    return changes.requeue_within(plan::kConflictRetry);
  }
  if (decision.kind != kCreate && decision.kind != kPatch) return;
  const bool creates = decision.kind == kCreate;
  Action action = creates ? Action::create(kServices, service.desired)
                          : Action::patch(kServices, key, decision.patch, {.uid = service.uid});
  action.failure_reason = kFailedService;
  changes.add(
      Step::kServices, std::move(action),
      result_events({creates ? "CreatedService" : "UpdatedService",
                     fmt::format("{} the service {}", creates ? "Created" : "Updated", key.to_string())},
                    {creates ? "FailedToCreateService" : "FailedToUpdateService",
                     fmt::format("Failed to {} the service {}", creates ? "create" : "update", key.to_string())}));
  changes.reasons.push_back(fmt::format("{} service {}", creates ? "creating" : "updating", key.name));
}

void delete_service(const ObjectView& service, const std::string& why, Changes& changes) {
  const ObjectKey& key = service.key;
  Action action = Action::remove(kServices, key, {.uid = service.uid});
  action.failure_reason = kFailedService;
  changes.add(Step::kDeletes, std::move(action),
              result_events({"DeletedService", fmt::format("Deleted the Service {} during suspend", key.to_string())},
                            {"FailedToDeleteService",
                             fmt::format("Failed to delete the Service {} during suspend", key.to_string())}));
  changes.reasons.push_back(fmt::format("{}: deleting service {}", why, key.name));
}

std::string reason_of_deletion(const RunningDecisions& decisions, const Cluster& cluster) {
  if (!decisions.promote && &cluster == decisions.choice.active)
    return "there are no nodes for its successor beside it";
  return cluster.annotation(kDeleteAfter).empty() ? "it is not used any more" : "the delay of its deletion has passed";
}

void render_removal(const Removal& removal, Changes& changes) {
  changes.stage(Step::kDeletes).independent = true;
  for (const Cluster* cluster : removal.clusters) delete_cluster(*cluster, removal.why, changes);
  for (const OwnGateway& gateway : removal.gateways) {
    changes.add(Step::kDeletes, delete_gateway(gateway, removal.why, changes));
  }
  for (const ObjectPtr& service : removal.services) delete_service(*service, removal.why, changes);
}

std::string_view reason_of_phase(SuspendPhase phase) {
  switch (phase) {
    case SuspendPhase::kRequested:
      return "spec.suspend is true: suspending the RayService";
    case SuspendPhase::kDeleted:
      return "all children are deleted: the RayService is suspended";
    case SuspendPhase::kResumed:
      return "spec.suspend is false: resuming the RayService";
    case SuspendPhase::kRunning:
    case SuspendPhase::kDeleting:
    case SuspendPhase::kSuspended:
      break;
  }
  return {};
}

void render_running(const RayServiceState& state, const RunningDecisions& decisions, Changes& changes) {
  if (decisions.add_finalizer) {
    changes.add(Step::kFinalizer, plan::add_finalizer(kRayServices, state.seen.service, kFinalizer));
    changes.reasons.emplace_back("adding the finalizer");
  }
  if (decisions.rollback_impossible) {
    changes.event(EventType::kWarning, "RollbackImpossible",
                  fmt::format("Active cluster {} not found, rollback cannot be initiated", state.active_name()));
  }
  if (decisions.promote) {
    changes.reasons.push_back(
        fmt::format("RayCluster {} is ready: the services select it", decisions.choice.pending_name));
  }
  ClusterPatches patches;
  if (const Cluster* newest = decisions.choice.newest()) add_update(*newest, decisions.update, patches, changes);
  for (const auto& [cluster, update] : decisions.suspensions) add_update(*cluster, update, patches, changes);
  add_record(state, decisions.choice.active, decisions.active, decisions.goals.active, patches, changes);
  add_record(state, decisions.choice.pending, decisions.pending, decisions.goals.pending, patches, changes);
  add_retirement_times(decisions.retirement, patches, changes);
  for (Action& action : patches.actions()) changes.add(Step::kClusterPatches, std::move(action));
  add_new_cluster(decisions, changes);
  add_labels(decisions, changes);
  for (const Service& service : decisions.services) add_service(service, changes);
  add_gateways(state, decisions.gateways, changes.stage(Step::kGateways), changes);
  for (const Cluster* cluster : decisions.retirement.deletes) {
    delete_cluster(*cluster, reason_of_deletion(decisions, *cluster), changes);
  }
  const auto retry_of = [](const std::optional<Serving>& serving) {
    return serving ? serving->requeue_after : std::nullopt;
  };
  for (const auto& due : {decisions.room.requeue_after, decisions.retirement.requeue_after, decisions.traffic_after,
                          decisions.goals.requeue_after, retry_of(decisions.active), retry_of(decisions.pending)}) {
    if (due) changes.requeue_within(*due);
  }
  changes.requests = decisions.requests;
}

}  // namespace

plan::Plan render(const RayServiceState& state, const Decisions& decisions) {
  Changes changes;
  if (decisions.suspension) {
    if (const auto reason = reason_of_phase(*decisions.suspension); !reason.empty())
      changes.reasons.emplace_back(reason);
  }
  if (decisions.removal) render_removal(*decisions.removal, changes);
  if (decisions.release) {
    changes.add(Step::kRelease, plan::remove_finalizer(kRayServices, state.seen.service, kFinalizer));
    changes.reasons.emplace_back("the RayService is being deleted: removing its finalizer");
  }
  if (decisions.running) {
    if (decisions.refusal) changes.reasons.push_back("the spec is refused: " + decisions.refusal.message);
    render_running(state, *decisions.running, changes);
  }
  Json status = next_status(state, decisions, changes);
  return plan::to_plan(std::move(changes), state.status, std::move(status));
}

}  // namespace tpuslice::rayservice
