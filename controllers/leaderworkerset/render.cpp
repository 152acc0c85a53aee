#include "controllers/leaderworkerset/render.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/leaderworkerset_status.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/changes.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::ActionKind;

/// Stages of a plan, in this order. None waits for a write that the API server refuses for one group, and what groups
/// need waits for a refused rollout in one plan only: the next is about groups alone (Decisions::rollout_waits).
enum class Step : std::uint8_t {
  kRevisions,         ///< Before sets that refer to them.
  kSets,              ///< Leader set, before the deletions that it records, and shared service.
  kWorkerSetDeletes,  ///< Before the workers, which the sets would recreate.
  kPodDeletes,
  kGroupChildren,
  kRevisionDeletes,
};

bool is_rollout(Step step) { return step == Step::kRevisions || step == Step::kSets; }

class Renderer {
 public:
  Renderer(const LeaderWorkerSetSpec& spec, bool has_groups, bool rollout_waits)
      : spec_(spec), has_groups_(has_groups), rollout_waits_(rollout_waits) {
    changes_.keeps_failure = rollout_waits;
  }

  /// Adds a write with its reason, and an event if it fails.
  void add(Step step, PlannedWrite write) {
    Action& action = write.action;
    action.failure_reason = failure_reason(step, action.kind);
    add(write_failed(spec_, action, write.leader.get()));
    if (write.leader != nullptr) add(worker_set_created(*write.leader));
    changes_.reasons.push_back(std::move(write.reason));
    add(step, std::move(action));
  }

  void add(Step step, WriteOrProblem decision) {
    if (decision.write) add(step, std::move(*decision.write));
    if (decision.problem) problems_.push_back(std::move(decision.problem));
    requeue_within(decision.requeue_after);
  }

  void add(const GroupDeletion& deletion, const std::string& revision_key) {
    const Group& group = deletion.group;
    const PodView& leader = *group.leader;
    add(Step::kPodDeletes,
        PlannedWrite{delete_in_foreground(kPods, leader.key, leader.uid),
                     deletion.failure ? fmt::format("recreating group {}: {}", group.index, deletion.failure->cause)
                                      : fmt::format("updating group {} to revision {}", group.index, revision_key)});
    if (deletion.failure) {
      add(group_recreated(leader, group.index, *deletion.failure));
      changes_.count("tpuslice_leaderworkerset_restarts_total", "Group restarts of LeaderWorkerSets.", {}, leader.key);
    }
    // The garbage collector would delete worker set and workers one after the other, at kube-controller-manager's
    // request rate.
    if (group.worker_set == nullptr) return;
    if (!group.worker_set->deletion) {
      add(Step::kWorkerSetDeletes,
          PlannedWrite{delete_in_foreground(kStatefulSets, group.worker_set->key, group.worker_set->uid),
                       fmt::format("deleting the worker set of group {}", group.index)});
    }
    for (const PodPtr& pod : group.workers) {
      if (!pod->terminating()) add(Step::kPodDeletes, Action::remove(kPods, pod->key, {.uid = pod->uid}));
    }
  }

  void add(plan::EventIntent event) { changes_.events.push_back(std::move(event)); }
  void add_problem(Problem problem) {
    if (problem) problems_.push_back(std::move(problem));
  }
  void requeue_within(std::optional<Duration> time) {
    if (time) changes_.requeue_within(*time);
  }

  [[nodiscard]] plan::Changes& changes() { return changes_; }
  [[nodiscard]] std::vector<Problem>& problems() { return problems_; }

 private:
  static Action delete_in_foreground(const ResourceType& type, const ObjectKey& key, const std::string& uid) {
    Action action = Action::remove(type, key, {.uid = uid});
    action.propagation = plan::Propagation::kForeground;
    return action;
  }

  [[nodiscard]] std::string_view failure_reason(Step step, ActionKind kind) const {
    if (is_rollout(step) && has_groups_ && !rollout_waits_) return kFailedRollout;
    return kind == ActionKind::kCreate ? kFailedCreate : kFailedUpdate;
  }

  void add(Step step, Action action) {
    changes_.stage(step).independent = true;
    // A policy may refuse every update of the leader set: the restart then happens without a record.
    changes_.stage(step).continue_on_failure = rollout_waits_ || !is_rollout(step);
    changes_.add(step, std::move(action));
  }

  const LeaderWorkerSetSpec& spec_;
  const bool has_groups_;
  const bool rollout_waits_;
  plan::Changes changes_;
  std::vector<Problem> problems_;
};

void add_revision_event(const Decisions& decisions, bool has_leader_set, Renderer& out) {
  if (!decisions.revision.write) return;
  const RevisionOrigin existing = decisions.is_update ? RevisionOrigin::kUpdatedSet : RevisionOrigin::kDeletedRevision;
  out.add(revision_created(decisions.revision_name, decisions.revision_key,
                           has_leader_set ? existing : RevisionOrigin::kNewSet));
}

/// What the write of the leader set means for the groups.
void add_rollout_events(const LeaderWorkerSetSpec& spec, const Decisions& decisions, const StatefulSetView* leader_set,
                        Renderer& out) {
  if (!decisions.leader_set.write || decisions.rollout_waits) return;
  if (leader_set == nullptr) return out.add(leader_set_created(spec, decisions.revision_name));
  const RolloutStep& step = decisions.step;
  const std::int64_t updated = std::min(leader_set->partition(), leader_set->replicas());
  if (!decisions.is_update && step.partition < updated) {
    out.add(groups_updating(spec, step.partition, updated - 1, decisions.revision_name));
  }
  if (step.replicas < leader_set->replicas()) {
    out.add(surge_groups_deleted(spec, step.replicas, leader_set->replicas() - 1));
  }
}

}  // namespace

bool is_failed_write(std::string_view reason) {
  return reason == kFailedRollout || reason == kFailedCreate || reason == kFailedUpdate;
}

plan::Plan render(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                  const std::vector<Group>& groups, const StatefulSetView* leader_set, Decisions decisions) {
  Renderer out(spec, leader_set != nullptr, decisions.rollout_waits);
  add_revision_event(decisions, leader_set != nullptr, out);
  add_rollout_events(spec, decisions, leader_set, out);
  out.add(Step::kRevisions, std::move(decisions.revision));
  out.add(Step::kSets, std::move(decisions.shared_service));
  out.add(Step::kSets, std::move(decisions.leader_set));
  for (const auto& [index, deletion] : decisions.deletions) out.add(deletion, decisions.revision_key);
  for (Problem& problem : decisions.problems) out.add_problem(std::move(problem));
  for (WriteOrProblem& child : decisions.group_children) out.add(Step::kGroupChildren, std::move(child));
  for (const Revision& revision : decisions.expired_revisions) {
    out.add(Step::kRevisionDeletes,
            PlannedWrite{Action::remove(kControllerRevisions, revision.object, {.uid = revision.uid}),
                         fmt::format("revision {} is unused: deleting it", revision.key)});
  }
  out.add_problem(std::move(decisions.last_failure));
  out.requeue_within(decisions.requeue_after);
  const Json before = plan::status_of(seen.set);
  Json status = next_status(before,
                            {spec, groups, decisions.revision_key,
                             leader_set == nullptr ? 0 : leader_set->replicas_created, out.problems(), seen.now},
                            out.changes());
  plan::Plan plan = to_plan(std::move(out.changes()), before, std::move(status));
  plan::mark_counts(plan, before, {"replicas", "readyReplicas", "updatedReplicas"});
  return plan;
}

}  // namespace tpuslice::leaderworkerset
