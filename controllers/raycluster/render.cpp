#include "controllers/raycluster/render.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"
#include "controllers/plan/changes.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/token_auth.h"
#include "controllers/raycluster/raycluster_status.h"
#include "controllers/raycluster/redis_cleanup/render.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::raycluster {
namespace {

using plan::Action;
using plan::Changes;
using plan::EventType;
using plan::result_events;

constexpr std::size_t kMaxNamesInEvent = 8;

/// Stages of the plan.
///
/// A role binding is written after its role, whose permissions the API server looks up. An ingress comes last, so that
/// one that cannot be written does not hold back pods. The finalizer is added after the check, which requires the
/// observed resourceVersion, and before all pods.
enum class Step : std::uint8_t {
  kCheck,
  kFinalizer,
  kPodPatches,
  kDeletes,
  kChildren,
  kRoleBindings,
  kServices,
  kPods,
  kIngresses
};

Action delete_pod(const PodView& pod, std::string_view failure_reason) {
  Action action = Action::remove(kPods, pod.key, {.uid = pod.uid});
  action.failure_reason = failure_reason;
  return action;
}

std::vector<Action> pod_deletions(const std::vector<PodPtr>& pods, std::string_view failure_reason) {
  std::vector<Action> out;
  out.reserve(pods.size());
  for (const PodPtr& pod : pods) out.push_back(delete_pod(*pod, failure_reason));
  return out;
}

void add_head(const HeadDecision& head, Changes& changes) {
  for (const HeadDecision::Deletion& deletion : head.deletes) {
    const ObjectKey& key = deletion.pod->key;
    changes.reasons.push_back(fmt::format("head pod {} {}: deleting it", key.name, deletion.reason));
    changes.add(
        Step::kDeletes, delete_pod(*deletion.pod, kFailedDeleteHeadPod),
        result_events({"DeletedHeadPod", fmt::format("Deleted head Pod {}: it {}", key.to_string(), deletion.reason)},
                      {"FailedToDeleteHeadPod", fmt::format("Failed to delete head Pod {}", key.to_string())},
                      "DeleteHeadPod"));
  }
  if (!head.create) return;
  Action action = Action::create(kPods, *head.create);
  action.failure_reason = kFailedCreateHeadPod;
  const std::string key = action.key.to_string();
  changes.reasons.emplace_back("the head pod is missing: creating it");
  changes.add(
      Step::kPods, std::move(action),
      result_events({"CreatedHeadPod", fmt::format("Created head Pod {}", key)},
                    {"FailedToCreateHeadPod", fmt::format("Failed to create head Pod {}", key)}, "CreateHeadPod"));
}

/// "Pods a, b in default".
std::string describe(const std::vector<Action>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const Action& pod : pods) names.push_back(pod.key.name);
  return fmt::format("{} {} in {}", pods.size() == 1 ? "Pod" : "Pods", plan::join_names(names, kMaxNamesInEvent),
                     pods.front().key.namespace_name);
}

void add_deletion(const WorkerDecision::Deletion& deletion, Changes& changes) {
  std::vector<Action> actions = pod_deletions(deletion.pods, kFailedDeleteWorkerPod);
  for (std::size_t i = 0; deletion.lost_host && i < actions.size(); ++i) {
    actions[i].grace_seconds = tpu::teardown_grace(*deletion.pods[i]);
  }
  const std::string pods = describe(actions);
  changes.reasons.push_back(deletion.reason);
  changes.add(Step::kDeletes, std::move(actions),
              result_events({"DeletedWorkerPod", fmt::format("Deleted worker {}: {}", pods, deletion.reason)},
                            {"FailedToDeleteWorkerPod", "Failed to delete worker " + pods}, "DeleteWorkerPod"));
}

void add_creation(const WorkerDecision::Creation& creation, Changes& changes) {
  std::vector<Action> actions;
  for (const int host : creation.hosts) {
    const WorkerIndex index{creation.replica, host, creation.attempt};
    actions.push_back(Action::create(
        kPods, creation.builder->key(index),
        [builder = creation.builder, index]() -> Result<Json> {
          ASSIGN_OR_RETURN(Object pod, builder->build(index));
          return std::move(pod.mutable_json());
        },
        [builder = creation.builder, index] { return builder->text(index); }));
    actions.back().failure_reason = kFailedCreateWorkerPod;
  }
  changes.reasons.push_back(creation.reason);
  const std::string pods =
      fmt::format("{}, replica {} of group {}", describe(actions), creation.replica, creation.group);
  changes.add(Step::kPods, std::move(actions),
              result_events({"CreatedWorkerPod", "Created worker " + pods},
                            {"FailedToCreateWorkerPod", "Failed to create worker " + pods}, "CreateWorkerPod"));
}

/// A patch that changes nothing but fails if the cluster has changed. Without it, objects adopted by a cluster that is
/// being deleted with --cascade=orphan would be deleted as its dependents, and pods that terminate because their
/// cluster was deleted would be replaced.
void add_cluster_check(const RayClusterState& state, const Decisions& decisions, Changes& changes) {
  const bool adopts = !decisions.adopted_pods.empty() || std::ranges::any_of(decisions.services, &Service::adopted) ||
                      std::ranges::any_of(decisions.children, &Child::adopted);
  if (!adopts && !decisions.workers.beside_terminating) return;
  Action check = Action::patch(kRayClusters, state.spec.key, Json::object(),
                               {.uid = state.spec.uid, .resource_version = state.seen.cluster.resource_version()});
  check.subresource = "status";
  check.failure_reason = adopts ? kFailedAdoptPods : kFailedCreateWorkerPod;
  changes.add(Step::kCheck, std::move(check));
}

void add_adoption(const RayClusterSpec& spec, const std::vector<PodPtr>& pods, Changes& changes) {
  if (pods.empty()) return;
  std::vector<Action> actions;
  std::vector<std::string> names;
  for (const PodPtr& pod : pods) {
    actions.push_back(Action::patch(kPods, pod->key, {{"metadata", {{"ownerReferences", {spec.owner.to_json()}}}}},
                                    {.uid = pod->uid, .resource_version = pod->resource_version}));
    actions.back().failure_reason = kFailedAdoptPods;
    names.push_back(pod->key.name);
  }
  changes.reasons.push_back(fmt::format("{} pods of an earlier cluster have no owner: adopting them", pods.size()));
  const std::string described = plan::join_names(names, kMaxNamesInEvent);
  changes.add(
      Step::kPodPatches, std::move(actions),
      result_events({"AdoptedPod", "Adopted Pods of an earlier RayCluster: " + described},
                    {"FailedToAdoptPod", "Failed to adopt Pods of an earlier RayCluster: " + described}, "AdoptPod"));
}

void add_upgrade(const RayClusterState& state, const UpgradeDecision& upgrade, Changes& changes) {
  for (const UpgradeDecision::Record& record : upgrade.records) {
    Action action = Action::patch(kPods, record.pod->key, {{"metadata", {{"annotations", record.annotations}}}},
                                  {.uid = record.pod->uid});
    action.failure_reason = kFailedUpdatePod;
    const std::string failure = fmt::format("Failed to record the spec of Pod {}", record.pod->key.to_string());
    changes.add(Step::kPodPatches, std::move(action),
                {.on_failure = {{EventType::kWarning, "FailedToUpdatePod", "UpdatePod", failure}}});
  }
  if (!upgrade.records.empty()) {
    changes.reasons.push_back(
        fmt::format("{} pods do not say which spec they have: recording the present one", upgrade.records.size()));
  }
  const std::vector<PodPtr>& pods = upgrade.deletes;
  if (pods.empty()) return;
  changes.reasons.push_back(
      fmt::format("the spec has changed and spec.upgradeStrategy is Recreate: deleting {} of {} pods", pods.size(),
                  state.seen.pods.size()));
  const std::string cause =
      fmt::format("due to spec change with Recreate upgradeStrategy for RayCluster {}", state.spec.key.to_string());
  changes.add(Step::kDeletes, pod_deletions(pods, kFailedDeleteAllPods),
              result_events({"DeletedPod", "Deleted all Pods " + cause},
                            {"FailedToDeletePodCollection", "Failed to delete all Pods " + cause}, "DeletePod"));
}

void add_suspension(const RayClusterState& state, const std::vector<PodPtr>& pods, Changes& changes) {
  if (state.phase == SuspendPhase::kRequested) {
    changes.reasons.emplace_back("spec.suspend is true: suspending the cluster");
  }
  if (state.phase == SuspendPhase::kPodsDeleted) {
    changes.reasons.emplace_back("all pods are deleted: the cluster is suspended");
  }
  if (pods.empty()) return;
  changes.reasons.push_back(
      fmt::format("the cluster is being suspended: deleting {} of its {} pods", pods.size(), state.seen.pods.size()));
  const std::string cause = fmt::format("Pods for RayCluster {} due to suspension", state.spec.key.to_string());
  changes.add(Step::kDeletes, pod_deletions(pods, kFailedDeleteAllPods),
              result_events({"DeletedPod", "Deleted " + cause}, {"FailedToDeletePod", "Failed to delete " + cause},
                            "DeletePod"));
}

void add_service(const Service& service, Changes& changes) {
  using enum plan::ChildDecision::Kind;
  const plan::ChildDecision& decision = service.decision;
  if (decision.kind == kConflict) changes.reasons.push_back(decision.conflict);
  if (decision.kind != kCreate && decision.kind != kPatch) return;
  Action action = decision.kind == kCreate
                      ? Action::create(kServices, service.desired)
                      : Action::patch(kServices, service.desired.key(), decision.patch, {.uid = service.uid});
  action.failure_reason = kFailedService;
  const ObjectKey key = action.key;
  const std::string_view why = decision.kind == kCreate ? "is missing: creating it"
                               : service.adopted        ? "has no owner: adopting it"
                                                        : "drifted: restoring its ports, selector and labels";
  changes.reasons.push_back(fmt::format("service {} {}", key.name, why));
  if (decision.kind == kPatch) return changes.add(Step::kServices, std::move(action));
  changes.add(Step::kServices, std::move(action),
              result_events({"CreatedService", fmt::format("Created service {}", key.to_string())},
                            {"FailedToCreateService", fmt::format("Failed to create service {}", key.to_string())},
                            "CreateService"));
}

Step step_of(const ChildType& child) {
  if (!child.needed_by_pods) return Step::kIngresses;
  return child.type == kRoleBindings ? Step::kRoleBindings : Step::kChildren;
}

void add_child(const Child& child, Changes& changes) {
  using enum plan::ChildDecision::Kind;
  const ChildType& words = child.type;
  const ResourceType& type = words.type;
  const plan::ChildDecision& decision = child.decision;
  if (!child.watched) changes.requeue_within(kUnwatchedRetry);
  if (decision.kind == kConflict) changes.reasons.push_back(decision.conflict);
  if (decision.kind != kCreate && decision.kind != kPatch) return;
  const bool creates = decision.kind == kCreate;
  const ObjectKey key = child.desired.key();
  Action action =
      creates ? Action::create(type, child.desired) : Action::patch(type, key, decision.patch, {.uid = child.uid});
  action.failure_reason = words.failure_reason;
  const std::string_view why = creates         ? "is missing: creating it"
                               : child.adopted ? "has no owner: adopting it"
                                               : "drifted: restoring it";
  changes.reasons.push_back(fmt::format("{} {} {}", to_lower(type.kind), key.name, why));
  if (!creates && (child.adopted || words.updated_reason.empty())) {
    return changes.add(step_of(words), std::move(action));
  }
  changes.add(step_of(words), std::move(action),
              result_events({creates ? words.created_reason : words.updated_reason,
                             fmt::format("{} {}", creates ? words.created : words.updated, key.to_string())},
                            {creates ? words.failed_reason : words.failed_update_reason,
                             fmt::format("{} {}", creates ? words.failed : words.failed_update, key.to_string())},
                            fmt::format("{}{}", creates ? "Create" : "Update", type.kind)));
}

void add_finalizer(const Object& cluster, Changes& changes) {
  changes.add(Step::kFinalizer, add_cleanup_finalizer(cluster));
  changes.reasons.emplace_back("the cluster is fault-tolerant: adding the finalizer of the cleanup of Redis");
}

void add_auth_secret(const RayClusterSpec& spec, Changes& changes) {
  Action action = create_auth_secret(spec);
  changes.reasons.push_back(fmt::format("the head needs the token in secret {}: creating it", action.key.name));
  std::string failure = fmt::format("Failed to create secret {}", action.key.to_string());
  changes.add(Step::kChildren, std::move(action),
              {.on_failure = {{EventType::kWarning, "FailedToCreateSecret", "CreateSecret", std::move(failure)}}});
}

/// A Warning with `message`, unless the condition said so already.
void warn_once(const Json& before, const Json& after, std::string_view condition, plan::EventIntent event,
               Changes& changes) {
  if (!event.message.empty() && condition_changed(before, after, condition)) changes.events.push_back(std::move(event));
}

void warn_of_refusal(const Json& before, const Json& after, const Problem& refusal, Changes& changes) {
  warn_once(before, after, plan::kAccepted, {EventType::kWarning, "InvalidRayClusterSpec", "Validate", refusal.message},
            changes);
}

/// The API server has refused the head pod because its service account does not exist; with the autoscaler, upstream
/// has an event of its own for that.
void warn_of_missing_service_account(const RayClusterSpec& spec, const std::optional<plan::Failure>& last_failure,
                                     Changes& changes) {
  const std::string name = own_service_account(spec);
  if (!spec.autoscaling.enabled || name.empty() || !last_failure) return;
  if (last_failure->reason != kFailedCreateHeadPod || last_failure->missing_service_account != name) return;
  changes.events.push_back(
      {EventType::kWarning, "AutoscalerServiceAccountNotFound", "Validate",
       fmt::format("Failed to reconcile RayCluster {}. ServiceAccount {} of the head Pod is not found: create it, or "
                   "remove serviceAccountName from headGroupSpec.template",
                   spec.key.to_string(), name)});
}

/// Templates from which no pod can be built.
Problem template_errors(const Decisions& decisions) {
  std::vector<std::string> errors = decisions.workers.errors;
  if (!decisions.head.error.empty()) errors.insert(errors.begin(), decisions.head.error);
  return errors.empty() ? Problem{} : Problem{"InvalidSpec", plan::summary(errors)};
}

std::string describe_status(const Json& status) {
  return fmt::format("status: {} of {} workers available", status.value("availableWorkerReplicas", 0),
                     status.value("desiredWorkerReplicas", 0));
}

}  // namespace

plan::Plan render(const RayClusterState& state, const Decisions& decisions) {
  const auto& [seen, spec, pods, phase] = state;
  Changes changes;
  add_cluster_check(state, decisions, changes);
  if (decisions.add_finalizer) add_finalizer(seen.cluster, changes);
  add_adoption(spec, decisions.adopted_pods, changes);
  add_upgrade(state, decisions.upgrade, changes);
  add_head(decisions.head, changes);
  for (const WorkerDecision::Deletion& deletion : decisions.workers.deletes) add_deletion(deletion, changes);
  for (const WorkerDecision::Creation& creation : decisions.workers.creates) add_creation(creation, changes);
  add_suspension(state, decisions.suspended_pods, changes);
  for (const Child& child : decisions.children) add_child(child, changes);
  if (decisions.create_auth_secret) add_auth_secret(spec, changes);
  for (const Service& service : decisions.services) add_service(service, changes);

  const Problem refusal = template_errors(decisions);
  const std::string conflict = service_conflicts(decisions.services);
  const Json before = plan::status_of(seen.cluster);
  StatusInput input{state, refusal, service_problem(decisions.services, seen.last_failure)};
  const bool has_children = !decisions.children.empty() || spec.auth.creates_secret();
  if (has_children) input.children = child_problem(decisions.children, seen.last_failure);
  Json status = build_status(input);
  warn_of_refusal(before, status, refusal, changes);
  warn_once(before, status, kServicesReady, {EventType::kWarning, "FailedToCreateService", "CreateService", conflict},
            changes);
  bool conflicts = !conflict.empty();
  for (const Child& child : decisions.children) {
    if (child.decision.conflict.empty()) continue;
    conflicts = true;
    warn_once(before, status, plan::kChildrenReady,
              {EventType::kWarning, std::string(child.type.failed_reason),
               fmt::format("Create{}", child.type.type.kind), child.decision.conflict},
              changes);
  }
  warn_of_missing_service_account(spec, seen.last_failure, changes);
  if (conflicts) changes.requeue_within(plan::kConflictRetry);
  std::string status_reason = refusal ? refusal.message : describe_status(status);
  if (decisions.retry_after) {
    changes.requeue_within(*decisions.retry_after);
    changes.keeps_failure = true;
  }
  return to_plan(std::move(changes), before, std::move(status), std::move(status_reason));
}

plan::Plan render_refusal(const RayClusterState& state, const Problem& refusal, const Decisions& decisions) {
  Changes changes;
  changes.reasons.push_back("the spec is refused: " + refusal.message);
  for (const WorkerDecision::Deletion& deletion : decisions.workers.deletes) add_deletion(deletion, changes);
  add_suspension(state, decisions.suspended_pods, changes);
  const Json before = plan::status_of(state.seen.cluster);
  Json status = refused_status(state, refusal);
  warn_of_refusal(before, status, refusal, changes);
  return to_plan(std::move(changes), before, std::move(status));
}

}  // namespace tpuslice::raycluster
