#include "controllers/leaderworkerset/render.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/leaderworkerset/adoption.h"
#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/groups/lacking_pods.h"
#include "controllers/leaderworkerset/leaderworkerset_status.h"
#include "controllers/leaderworkerset/rollout/problems.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "controllers/leaderworkerset/sets/services.h"
#include "controllers/plan/changes.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::ActionEvents;
using plan::ActionKind;
using plan::EventIntent;
using plan::Plan;

/// Stages of a plan, in this order. None waits for a write that the API server refuses for one group, and what groups
/// need waits for a refused rollout in one plan only: the next is about groups alone (Decisions::rollout_waits).
enum class Step : std::uint8_t {
  kRevisions,         ///< Before sets that refer to them.
  kSets,              ///< Leader set, before the deletions that it records, and shared service.
  kWorkerSetDeletes,  ///< Before the workers, which the sets would recreate.
  kPodDeletes,
  kGroupChildren,
  kRevisionDeletes,
  kCheck,
  kAdoptions,  ///< Nothing waits for them: revisions without an owner are used as they are.
};

/// A node that is not in the store yet causes no event for this set.
constexpr Duration kNodeRetry = std::chrono::seconds(1);

bool is_rollout(Step step) { return step == Step::kRevisions || step == Step::kSets; }

Action delete_in_foreground(const ResourceType& type, const ObjectKey& key, const std::string& uid) {
  Action action = Action::remove(type, key, {.uid = uid});
  action.propagation = plan::Propagation::kForeground;
  return action;
}

/// Why the last plan failed. A failed status write is not reported: that would be another status write.
Problem last_failure(const LeaderWorkerSetObserved& seen) {
  if (!seen.last_failure) return {};
  const std::string& reason = seen.last_failure->reason;
  const bool of_write = reason == kFailedRollout || reason == kFailedCreate || reason == kFailedUpdate;
  return of_write ? Problem{reason, seen.last_failure->message} : Problem{};
}

class Renderer {
 public:
  Renderer(const LeaderWorkerSetState& state, const Decisions& decisions)
      : state_(state), decisions_(decisions), problems_(rollout_problems(state, decisions.step)) {
    changes_.keeps_failure = decisions.rollout_waits;
  }

  [[nodiscard]] Plan plan() {
    if (decisions_.create_revision) create_revision();
    if (decisions_.shared_service.kind != plan::ChildDecision::Kind::kNone) {
      write_service(Step::kSets, decisions_.shared_service, Object(build_shared_service(state_.spec)));
    }
    write_leader_set();
    for (const auto& [index, deletion] : decisions_.deletions) delete_group(deletion);
    for (const ExhaustedGroup& group : decisions_.exhausted) report_exhausted(group);
    for (const GroupChildren& children : decisions_.group_children) write_children(children);
    for (const Revision& revision : decisions_.expired_revisions) {
      write(Step::kRevisionDeletes, Action::remove(kControllerRevisions, revision.object, {.uid = revision.uid}),
            fmt::format("revision {} is unused: deleting it", revision.key));
    }
    adopt_revisions();
    if (Problem failure = last_failure(state_.seen)) problems_.push_back(std::move(failure));
    if (decisions_.requeue_after) changes_.requeue_within(*decisions_.requeue_after);
    const Json before = plan::status_of(state_.seen.set);
    const std::string refused = refused_pods(before);
    Json status =
        next_status(before,
                    {state_.spec, state_.groups, state_.history.claims_changed ? std::string() : state_.history.desired,
                     has_leader_set() ? state_.leader_set->replicas_created : 0, problems_, failed_groups_, refused,
                     state_.seen.now},
                    changes_);
    Plan plan = to_plan(std::move(changes_), before, std::move(status));
    plan::mark_counts(plan, before, {"replicas", "readyReplicas", "updatedReplicas"});
    return plan;
  }

 private:
  [[nodiscard]] bool has_leader_set() const { return state_.leader_set != nullptr; }

  /// The desired revision; without a uid if it does not exist yet.
  [[nodiscard]] plan::ObjectReference revision_reference() const {
    const Revision* const revision = find_revision(state_.history.revisions, state_.history.desired);
    return {kControllerRevisions.api_version(),
            std::string(kControllerRevisions.kind),
            revision->object,
            revision->uid,
            {}};
  }

  std::string refused_pods(const Json& before) {
    const std::optional<plan::LackingPods> set = lacking_pods(state_);
    if (!set) return {};
    std::string refused = plan::explain_lacking_pods(*set, array_at(before, {"conditions"}), state_.seen.answers,
                                                     state_.seen.now, changes_);
    if (!refused.empty()) problems_.push_back({std::string(plan::kPodsRefused), refused});
    return refused;
  }

  void create_revision() {
    const History& history = state_.history;
    const RevisionOrigin existing =
        history.leader_set_outdated ? RevisionOrigin::kUpdatedSet : RevisionOrigin::kDeletedRevision;
    write(Step::kRevisions, Action::create(kControllerRevisions, Object(*history.missing)),
          fmt::format("revision {} is missing: creating it", history.desired),
          {.on_success = {revision_created(revision_reference(), history.desired,
                                           has_leader_set() ? existing : RevisionOrigin::kNewSet)}});
  }

  void write_leader_set() {
    using enum plan::ChildDecision::Kind;
    const RolloutStep& step = decisions_.step;
    const std::string& revision = state_.history.desired;
    if (decisions_.leader_set.kind == kCreate) {
      write(Step::kSets,
            Action::create(kStatefulSets,
                           Object(build_leader_set(state_.spec, {revision, step.replicas, step.partition}))),
            fmt::format("the leader set is missing: creating it with {} groups", step.replicas),
            {.on_success = {leader_set_created(state_.spec, revision_reference())}});
    } else if (decisions_.leader_set.kind == kPatch) {
      const StatefulSetView& live = *state_.leader_set;
      write(Step::kSets, Action::patch(kStatefulSets, live.key, decisions_.leader_set.patch, {.uid = live.uid}),
            decisions_.rollout_waits ? "leader set: restarts of groups"
                                     : fmt::format("leader set: {} groups, partition {}, revision {}", step.replicas,
                                                   step.partition, revision),
            {.on_success = rollout_events()});
    }
  }

  /// What the patch of the leader set means for the groups.
  [[nodiscard]] std::vector<EventIntent> rollout_events() const {
    std::vector<EventIntent> out;
    if (decisions_.rollout_waits) return out;
    if (!decisions_.restored_template.empty()) {
      out.push_back(leader_template_restored(state_.spec, decisions_.restored_template, revision_reference()));
    }
    const StatefulSetView& live = *state_.leader_set;
    const RolloutStep& step = decisions_.step;
    const std::int64_t updated = std::min(live.partition(), live.replicas());
    if (!state_.history.leader_set_outdated && step.partition < updated) {
      out.push_back(groups_updating(step.partition, updated - 1, revision_reference()));
    }
    if (step.replicas < live.replicas()) {
      out.push_back(surge_groups_deleted(state_.spec, step.replicas, live.replicas() - 1));
    }
    return out;
  }

  void write_service(Step step, const plan::ChildDecision& decision, const Object& desired) {
    using enum plan::ChildDecision::Kind;
    const std::string name = desired.key().name;
    switch (decision.kind) {
      case kNone:
        break;
      case kWait:  // A service of another owner causes no event for this set.
        changes_.requeue_within(plan::kConflictRetry);
        break;
      case kCreate:
        write(step, Action::create(kServices, desired), fmt::format("service {} is missing: creating it", name));
        break;
      case kPatch: {
        const ServiceView& live = *state_.find_service(name);
        write(step, Action::patch(kServices, live.key, decision.patch, {.uid = live.uid}),
              fmt::format("service {} drifted: restoring it", name));
        break;
      }
      case kConflict:
        report_conflict("ServiceConflict", decision.conflict + ": delete or rename it");
        break;
    }
  }

  void delete_group(const GroupDeletion& deletion) {
    const Group& group = *deletion.group;
    const PodView& leader = *group.leader;
    ActionEvents events;
    if (deletion.failure) {
      events.on_success = {group_recreated(leader, group.index, *deletion.failure)};
      events.measurements = {plan::increment(kGroupRestarts)};
    }
    const auto grace_of = [lost_host = deletion.failure && deletion.failure->lost_host](const PodView& pod) {
      return lost_host ? tpu::teardown_grace(pod) : std::nullopt;
    };
    Action delete_leader = delete_in_foreground(kPods, leader.key, leader.uid);
    delete_leader.grace_seconds = grace_of(leader);
    write(Step::kPodDeletes, std::move(delete_leader),
          deletion.failure ? fmt::format("recreating group {}: {}", group.index, deletion.failure->cause)
                           : fmt::format("updating group {} to revision {}", group.index, state_.history.desired),
          std::move(events));
    // The garbage collector would delete worker set and workers one after the other, at kube-controller-manager's
    // request rate.
    if (group.worker_set == nullptr) return;
    if (!group.worker_set->deletion) {
      write(Step::kWorkerSetDeletes, delete_in_foreground(kStatefulSets, group.worker_set->key, group.worker_set->uid),
            fmt::format("deleting the worker set of group {}", group.index));
    }
    for (const PodPtr& pod : group.workers) {
      if (pod->terminating()) continue;
      Action action = Action::remove(kPods, pod->key, {.uid = pod->uid});
      action.grace_seconds = grace_of(*pod);
      add(Step::kPodDeletes, std::move(action));
    }
  }

  void report_exhausted(const ExhaustedGroup& exhausted) {
    failed_groups_.push_back(exhausted.group->index);
    problems_.push_back(
        {"RestartsExhausted",
         fmt::format("group {} is not restarted again after {} restarts: {}; to restart it, delete pod {}, or annotate "
                     "it with {}=true",
                     exhausted.group->index, exhausted.restarts, exhausted.cause, exhausted.group->leader->key.name,
                     kRecover)});
  }

  void write_children(const GroupChildren& children) {
    const Group& group = *children.group;
    if (children.revision == nullptr) {
      problems_.push_back(
          {"RevisionMissing", fmt::format("revision {} of group {} does not exist: delete pod {} to recreate the group",
                                          group.revision_key(), group.index, group.leader->key.name)});
      return;
    }
    if (children.service.kind != plan::ChildDecision::Kind::kNone) {
      write_service(Step::kGroupChildren, children.service, Object(build_group_service(state_.spec, children.leader)));
    }
    write_worker_set(children);
  }

  void write_worker_set(const GroupChildren& children) {
    using enum WorkerSetDecision::Kind;
    const Group& group = *children.group;
    switch (children.worker_set.kind) {
      case kNone:
        break;
      case kCreate:
        create_worker_set(children);
        break;
      case kRestore:
        patch_worker_set(children, fmt::format("the worker set of group {} drifted: restoring it", group.index));
        break;
      case kAdopt:
        write(Step::kGroupChildren,
              Action::patch(kStatefulSets, group.other_set->key, children.worker_set.patch,
                            {.uid = group.other_set->uid, .resource_version = group.other_set->resource_version}),
              fmt::format("the worker set of group {} has no owner: adopting it", group.index));
        break;
      case kRecord:
        patch_worker_set(children, fmt::format("group {} is complete: recording its pods", group.index));
        break;
      case kConflict:
        report_conflict("WorkerSetConflict",
                        fmt::format("StatefulSet {} does not belong to this set, so group {} has no workers: delete it",
                                    group.other_set->key.name, group.index));
        break;
      case kNoNode:
        changes_.requeue_within(kNodeRetry);
        break;
      case kNoTopology:
        report_conflict("NoTopology", fmt::format("node {} of leader {} has no label {}, the value of annotation {}",
                                                  group.leader->node_name, children.leader.name,
                                                  state_.spec.topology_key, kExclusiveTopology));
        break;
    }
  }

  void create_worker_set(const GroupChildren& children) {
    if (shared_set_ == nullptr) shared_set_ = std::make_shared<const Typed<LeaderWorkerSetSpec>>(state_.seen.set);
    const auto build = [set = shared_set_, revision = children.revision, leader = children.leader,
                        domain = children.worker_set.domain] {
      return Result<Json>(build_worker_set(set->spec(), revision->group, leader, domain));
    };
    const PodView& leader = *children.group->leader;
    write(Step::kGroupChildren,
          Action::create(kStatefulSets, {state_.spec.key.namespace_name, children.leader.name}, build),
          fmt::format("the worker set of group {} is missing: creating it", children.group->index),
          {.on_success = {worker_set_created(leader)}}, &leader);
  }

  void patch_worker_set(const GroupChildren& children, std::string reason) {
    const StatefulSetView& live = *children.group->worker_set;
    write(Step::kGroupChildren, Action::patch(kStatefulSets, live.key, children.worker_set.patch, {.uid = live.uid}),
          std::move(reason));
  }

  void adopt_revisions() {
    for (const ObjectPtr& revision : state_.seen.revisions) {
      const bool expires = std::ranges::any_of(decisions_.expired_revisions,
                                               [&](const Revision& each) { return each.uid == revision->uid; });
      if (expires || !is_orphaned_revision(*revision)) continue;
      if (changes_.stage(Step::kCheck).actions.empty()) changes_.add(Step::kCheck, check_set(state_.seen));
      write(Step::kAdoptions, adopt_revision(state_.spec, *revision),
            fmt::format("revision {} has no owner: adopting it", revision->key.name));
    }
  }

  void report_conflict(std::string reason, std::string message) {
    problems_.push_back({std::move(reason), std::move(message)});
    changes_.requeue_within(plan::kConflictRetry);
  }

  /// Adds a write with its reason, and an event if it fails. `leader`: of the worker set that is created; null for
  /// other writes.
  void write(Step step, Action action, std::string reason, ActionEvents events = {}, const PodView* leader = nullptr) {
    action.failure_reason = failure_reason(step, action.kind);
    events.on_failure = {write_failed(state_.spec, action, leader)};
    action.events = std::make_shared<const ActionEvents>(std::move(events));
    changes_.reasons.push_back(std::move(reason));
    add(step, std::move(action));
  }

  void add(Step step, Action action) {
    changes_.stage(step).independent = true;
    // A policy may refuse every update of the leader set: the restart then happens without a record.
    changes_.stage(step).continue_on_failure = decisions_.rollout_waits || !is_rollout(step);
    changes_.add(step, std::move(action));
  }

  [[nodiscard]] std::string_view failure_reason(Step step, ActionKind kind) const {
    if (is_rollout(step) && has_leader_set() && !decisions_.rollout_waits) return kFailedRollout;
    return kind == ActionKind::kCreate ? kFailedCreate : kFailedUpdate;
  }

  const LeaderWorkerSetState& state_;
  const Decisions& decisions_;
  std::vector<Problem> problems_;
  std::vector<int> failed_groups_;
  plan::Changes changes_;
  /// The set, for bodies that are built when they are sent; null until used.
  std::shared_ptr<const Typed<LeaderWorkerSetSpec>> shared_set_;
};

/// Deletes the groups from `replicas` on; the rest of the leader set stays as it is.
Action scale_down(const StatefulSetView& set, int replicas) {
  Json patch = {{"spec", {{"replicas", replicas}}}};
  patch["metadata"]["annotations"][std::string(kReplicas)] = std::to_string(replicas);
  Action action = Action::patch(kStatefulSets, set.key, std::move(patch), {.uid = set.uid});
  action.failure_reason = kFailedUpdate;
  return action;
}

}  // namespace

Plan render(const LeaderWorkerSetState& state, const Decisions& decisions) { return Renderer(state, decisions).plan(); }

Plan render_refusal(const LeaderWorkerSetObserved& seen, const Problem& refusal, std::optional<int> fewer_groups) {
  plan::Changes changes;
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  const Json before = plan::status_of(seen.set);
  Json status = refused_status(before, spec, refusal, seen.now, changes);
  changes.reasons.push_back("the spec is refused: " + refusal.message);
  if (fewer_groups) {
    changes.add(Step::kSets, scale_down(*find_leader_set(seen), *fewer_groups));
    changes.reasons.push_back(fmt::format("leader set: {} groups", *fewer_groups));
  }
  return to_plan(std::move(changes), before, std::move(status));
}

Plan render_conflict(const LeaderWorkerSetObserved& seen, const StatefulSetView& other, plan::Ownership ownership) {
  plan::Changes changes;
  changes.requeue_within(plan::kConflictRetry);
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  const Json before = plan::status_of(seen.set);
  const std::string name = other.key.to_string();
  Json status;
  if (ownership == plan::Ownership::kEarlierOwner) {
    const std::string message =
        fmt::format("StatefulSet {} of a LeaderWorkerSet that was deleted is being deleted", name);
    status = blocked_status(before, spec, {"LeaderSetTerminating", message}, seen.now);
  } else {
    const std::string message =
        fmt::format("StatefulSet {} does not belong to this LeaderWorkerSet: delete or rename one", name);
    status = conflict_status(before, spec, {"LeaderSetConflict", message}, seen.now, changes);
  }
  return to_plan(std::move(changes), before, std::move(status));
}

}  // namespace tpuslice::leaderworkerset
