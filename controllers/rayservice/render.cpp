#include "controllers/rayservice/render.h"

#include <algorithm>
#include <utility>

#include "controllers/plan/changes.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/cluster_patches.h"
#include "controllers/rayservice/finalizer.h"
#include "controllers/rayservice/rayservice_status.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

using plan::Action;
using plan::Changes;
using plan::EventType;
using raycluster::kRayClusters;

/// The stages of a plan. A cluster is deleted only after the services select another one.
enum class Step : std::uint8_t {
  kFinalizer,
  kClusterPatches,
  kClusters,
  kPodLabels,
  kServices,
  kRetirement,  ///< The time of deletion counts from when the services select another cluster.
  kDeletes,
  kRelease,
};

/// A Normal event if the action on `key` succeeds, a Warning if it fails.
void add_result_events(const ResourceType& type, const ObjectKey& key, std::string_view done_reason, std::string done,
                       std::string_view failed_reason, std::string failed, Changes& changes) {
  changes.event(EventType::kNormal, done_reason, std::move(done), key);
  changes.events.back().after_type = type;
  changes.event(EventType::kWarning, failed_reason, std::move(failed), key);
  changes.events.back().after_type = type;
}

void add_missing_finalizer(const RayServiceState& state, Changes& changes) {
  if (has_finalizer(state.seen.service)) return;
  changes.add(Step::kFinalizer, add_finalizer(state.seen.service));
  changes.reasons.emplace_back("adding the finalizer");
}

void delete_cluster(const Cluster& cluster, const std::string& why, Changes& changes) {
  const ObjectKey& key = cluster.spec.key;
  // A cluster that was orphaned meanwhile has another version.
  Action action = Action::remove(kRayClusters, key,
                                 {.uid = cluster.spec.uid, .resource_version = cluster.object.resource_version()});
  action.failure_reason = kFailedRayCluster;
  changes.add(Step::kDeletes, std::move(action));
  changes.reasons.push_back(fmt::format("{}: deleting RayCluster {}", why, key.name));
  add_result_events(kRayClusters, key, "DeletedRayCluster",
                    fmt::format("Deleted the RayCluster {}: {}", key.to_string(), why), "FailedToDeleteRayCluster",
                    fmt::format("Failed to delete the RayCluster {}", key.to_string()), changes);
}

void delete_all_clusters(const RayServiceState& state, const std::string& why, Changes& changes) {
  for (const Cluster& cluster : state.clusters.all()) {
    if (!cluster.terminating()) delete_cluster(cluster, why, changes);
  }
}

void add_new_cluster(const RayServiceState& state, const Decisions& decisions, Changes& changes) {
  if (!decisions.create) return;
  // A plan with a failing write sends no requests, which the other clusters need.
  if (const auto wait = plan::until_retry(state.seen.last_failure, kFailedRayCluster, state.seen.now)) {
    changes.keeps_failure = true;
    return changes.requeue_within(*wait);
  }
  Action action = Action::create(kRayClusters, *decisions.create);
  action.failure_reason = kFailedRayCluster;
  const ObjectKey key = action.key;
  changes.add(Step::kClusters, std::move(action));
  // Those that exist are served and deleted even if a quota refuses another.
  changes.stage(Step::kClusters).continue_on_failure = true;
  changes.reasons.push_back(decisions.choice.active == nullptr
                                ? fmt::format("creating RayCluster {}", key.name)
                                : fmt::format("rayClusterConfig has changed: creating RayCluster {}", key.name));
  add_result_events(kRayClusters, key, "CreatedRayCluster", fmt::format("Created the RayCluster {}", key.to_string()),
                    "FailedToCreateRayCluster", fmt::format("Failed to create the RayCluster {}", key.to_string()),
                    changes);
}

void add_update(const Decisions& decisions, ClusterPatches& patches, Changes& changes) {
  if (decisions.update.patch.is_null()) return;
  const Cluster& cluster = *decisions.choice.newest();
  patches.add(cluster, decisions.update.patch, true);
  const ObjectKey& key = cluster.spec.key;
  changes.reasons.push_back(fmt::format("{}: updating RayCluster {} in place", decisions.update.reason, key.name));
  add_result_events(kRayClusters, key, "UpdatedRayCluster",
                    fmt::format("Updated the RayCluster {}: {}", key.to_string(), decisions.update.reason),
                    "FailedToUpdateRayCluster", fmt::format("Failed to update the RayCluster {}", key.to_string()),
                    changes);
}

void add_record(const Decisions& decisions, ClusterPatches& patches, Changes& changes) {
  const std::optional<Serving>& serving = decisions.newest();
  if (!serving || !serving->record) return;
  const Cluster& cluster = *decisions.choice.newest();
  const ObjectKey& key = cluster.spec.key;
  patches.annotate(cluster, kServeConfig, serving->record->to_string());
  if (!serving->record->accepted) {
    changes.reasons.push_back(fmt::format("giving RayCluster {} serveConfigV2", key.name));
    return;
  }
  changes.reasons.push_back(fmt::format("RayCluster {} has accepted serveConfigV2", key.name));
  changes.event(EventType::kNormal, "UpdatedServeApplications",
                fmt::format("Updated serve applications to the RayCluster {}", key.to_string()), key);
  changes.events.back().after_type = kRayClusters;
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

void add_label(const ServeLabel& label, const Cluster* head_of, Changes& changes) {
  const std::string value = label.serves ? "true" : "false";
  const ObjectKey& key = label.pod->key;
  Json labels = Json::object();
  labels[std::string(raycluster::kServe)] = value;
  Action action = Action::patch(kPods, key, {{"metadata", {{"labels", std::move(labels)}}}}, {.uid = label.pod->uid});
  action.failure_reason = kFailedServeLabel;
  changes.add(Step::kPodLabels, std::move(action));
  changes.reasons.push_back(fmt::format("pod {} {}", key.name, label.serves ? "serves" : "does not serve"));
  if (head_of == nullptr) return;
  add_result_events(
      kPods, key, "UpdatedHeadPodServeLabel",
      fmt::format("Updated the serve label to \"{}\" for the Head Pod {}", value, key.to_string()),
      "FailedToUpdateHeadPodServeLabel",
      fmt::format("Failed to update the serve label to \"{}\" for the Head Pod {}", value, key.to_string()), changes);
}

void add_labels(const Decisions& decisions, Changes& changes) {
  // Each label is about another pod.
  if (!decisions.labels.empty()) changes.stage(Step::kPodLabels).independent = true;
  for (const ServeLabel& label : decisions.labels) {
    const Cluster* head_of = nullptr;
    for (const Cluster* cluster : {decisions.choice.active, decisions.choice.pending}) {
      if (cluster != nullptr && cluster->head == label.pod) head_of = cluster;
    }
    add_label(label, head_of, changes);
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
  changes.add(Step::kServices, std::move(action));
  changes.reasons.push_back(fmt::format("{} service {}", creates ? "creating" : "updating", key.name));
  add_result_events(kServices, key, creates ? "CreatedService" : "UpdatedService",
                    fmt::format("{} the service {}", creates ? "Created" : "Updated", key.to_string()),
                    creates ? "FailedToCreateService" : "FailedToUpdateService",
                    fmt::format("Failed to {} the service {}", creates ? "create" : "update", key.to_string()),
                    changes);
}

/// Services of an earlier service of this name are the garbage collector's.
void delete_services(const RayServiceState& state, Changes& changes) {
  std::vector<ObjectPtr> services = state.seen.services;
  std::ranges::sort(services, {}, [](const ObjectPtr& service) { return service->key; });
  for (const ObjectPtr& service : services) {
    if (service->deletion || !service->controller || service->controller->uid != state.spec.uid) continue;
    const ObjectKey& key = service->key;
    Action action = Action::remove(kServices, key, {.uid = service->uid});
    action.failure_reason = kFailedService;
    changes.add(Step::kDeletes, std::move(action));
    changes.reasons.push_back(fmt::format("the RayService is being suspended: deleting service {}", key.name));
    add_result_events(kServices, key, "DeletedService",
                      fmt::format("Deleted the Service {} during suspend", key.to_string()), "FailedToDeleteService",
                      fmt::format("Failed to delete the Service {} during suspend", key.to_string()), changes);
  }
}

std::string reason_of_deletion(const Decisions& decisions, const Cluster& cluster) {
  if (!decisions.promote && &cluster == decisions.choice.active)
    return "there are no nodes for its successor beside it";
  return cluster.annotation(kDeleteAfter).empty() ? "it is not used any more" : "the delay of its deletion has passed";
}

}  // namespace

plan::Plan render(const RayServiceState& state, const Decisions& decisions, const Problem& refusal) {
  Changes changes;
  if (refusal) changes.reasons.push_back("the spec is refused: " + refusal.message);
  add_missing_finalizer(state, changes);
  if (decisions.promote) {
    changes.reasons.push_back(
        fmt::format("RayCluster {} is ready: the services select it", decisions.choice.pending_name));
  }
  ClusterPatches patches;
  add_update(decisions, patches, changes);
  add_record(decisions, patches, changes);
  add_retirement_times(decisions.retirement, patches, changes);
  for (Action& action : patches.actions()) changes.add(Step::kClusterPatches, std::move(action));
  add_new_cluster(state, decisions, changes);
  add_labels(decisions, changes);
  for (const Service& service : decisions.services) add_service(service, changes);
  for (const Cluster* cluster : decisions.retirement.deletes) {
    delete_cluster(*cluster, reason_of_deletion(decisions, *cluster), changes);
  }
  const std::optional<Serving>& newest = decisions.newest();
  for (const auto& due : {decisions.room.requeue_after, decisions.retirement.requeue_after,
                          newest ? newest->requeue_after : std::nullopt}) {
    if (due) changes.requeue_within(*due);
  }
  changes.requests = decisions.requests;
  Json status = next_status(state, decisions, refusal, changes);
  return plan::to_plan(std::move(changes), state.status, std::move(status));
}

plan::Plan render_suspension(const RayServiceState& state, SuspendPhase phase, const Problem& refusal) {
  Changes changes;
  if (phase == SuspendPhase::kRequested)
    changes.reasons.emplace_back("spec.suspend is true: suspending the RayService");
  if (phase == SuspendPhase::kDeleted)
    changes.reasons.emplace_back("all children are deleted: the RayService is suspended");
  if (phase == SuspendPhase::kResumed) changes.reasons.emplace_back("spec.suspend is false: resuming the RayService");
  if (phase == SuspendPhase::kDeleting) {
    changes.stage(Step::kDeletes).independent = true;
    delete_all_clusters(state, "the RayService is being suspended", changes);
    delete_services(state, changes);
  }
  Json status = suspension_status(state, phase, refusal, changes);
  return plan::to_plan(std::move(changes), state.status, std::move(status));
}

plan::Plan render_timed_out(const RayServiceState& state, const Problem& refusal) {
  Changes changes;
  changes.stage(Step::kDeletes).independent = true;
  delete_all_clusters(state, "the initializing timeout has passed", changes);
  Json status = timed_out_status(state, refusal, changes);
  return plan::to_plan(std::move(changes), state.status, std::move(status));
}

plan::Plan render_deletion(const RayServiceState& state) {
  Changes changes;
  if (!has_finalizer(state.seen.service)) return {};
  if (!leaves_orphans(state.seen.service)) {
    changes.stage(Step::kDeletes).independent = true;
    delete_all_clusters(state, "the RayService is being deleted", changes);
  }
  if (state.clusters.all().empty() || leaves_orphans(state.seen.service)) {
    changes.add(Step::kRelease, remove_finalizer(state.seen.service));
    changes.reasons.emplace_back("the RayService is being deleted: removing its finalizer");
  }
  return plan::to_plan(std::move(changes), state.status, state.status);
}

}  // namespace tpuslice::rayservice
