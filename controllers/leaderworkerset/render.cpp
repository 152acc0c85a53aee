#include "controllers/leaderworkerset/render.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/status.h"
#include "controllers/plan/changes.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::ActionKind;
using plan::EventType;

/// Stages of a plan, in this order.
enum class Step : std::uint8_t {
  kRevisions,         ///< Before sets that refer to them.
  kSets,              ///< Leader set and shared service.
  kWorkerSetDeletes,  ///< Before the workers, which the sets would recreate.
  kPodDeletes,
  kGroupChildren,
  kRevisionDeletes,
};

class Renderer {
 public:
  /// Adds a write with its reason, and an event if it fails.
  void add(Step step, Action action, std::string reason) {
    const bool creates = action.kind == ActionKind::kCreate;
    action.failure_reason = creates ? kFailedCreate : kFailedUpdate;
    const char* verb = creates ? "create" : action.kind == ActionKind::kPatch ? "update" : "delete";
    changes_.event(EventType::kWarning, action.failure_reason,
                   fmt::format("Failed to {} {} {}", verb, action.type.kind, action.key.name), action.key);
    changes_.reasons.push_back(std::move(reason));
    add(step, std::move(action));
  }

  void add(Step step, ChildDecision decision) {
    if (decision.write) add(step, std::move(decision.write->action), std::move(decision.write->reason));
    if (decision.problem) problems_.push_back(std::move(decision.problem));
    requeue_within(decision.requeue_after);
  }

  void add(const GroupDeletion& deletion, const std::string& revision_key) {
    const Group& group = deletion.group;
    const PodView& leader = *group.leader;
    const bool restarts = !deletion.failure.empty();
    add(Step::kPodDeletes, delete_in_foreground(kPods, leader.key, leader.uid),
        restarts ? fmt::format("recreating group {}: {}", group.index, deletion.failure)
                 : fmt::format("updating group {} to revision {}", group.index, revision_key));
    if (restarts) add_restart(deletion);
    // The garbage collector would delete worker set and workers one after the other, at kube-controller-manager's
    // request rate.
    if (group.worker_set == nullptr) return;
    if (!group.worker_set->deletion) {
      add(Step::kWorkerSetDeletes, delete_in_foreground(kStatefulSets, group.worker_set->key, group.worker_set->uid),
          fmt::format("deleting the worker set of group {}", group.index));
    }
    for (const PodPtr& pod : group.workers) {
      if (!pod->terminating()) add(Step::kPodDeletes, Action::remove(kPods, pod->key, {.uid = pod->uid}));
    }
  }

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

  void add(Step step, Action action) {
    changes_.stage(step).independent = true;
    changes_.add(step, std::move(action));
  }

  void add_restart(const GroupDeletion& deletion) {
    const PodView& leader = *deletion.group.leader;
    changes_.event(EventType::kNormal, "RecreateGroup",
                   fmt::format("Recreating group {} (restart {} in a row): {}", deletion.group.index, deletion.restarts,
                               deletion.failure),
                   leader.key, plan::ObjectReference{"v1", "Pod", leader.key, leader.uid, leader.resource_version});
    changes_.count("tpuslice_leaderworkerset_restarts_total", "Group restarts of LeaderWorkerSets.", {}, leader.key);
  }

  plan::Changes changes_;
  std::vector<Problem> problems_;
};

}  // namespace

plan::Plan render(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen,
                  const std::vector<Group>& groups, const StatefulSetView* leader_set, Decisions decisions) {
  Renderer out;
  if (decisions.revision.write && decisions.is_update) {
    out.changes().event(EventType::kNormal, "CreatingRevision",
                        fmt::format("Creating revision with key {} for updated LWS", decisions.revision_key),
                        decisions.revision.write->action.key);
  }
  out.add(Step::kRevisions, std::move(decisions.revision));
  out.add(Step::kSets, std::move(decisions.shared_service));
  out.add(Step::kSets, std::move(decisions.leader_set));
  for (const auto& [index, deletion] : decisions.deletions) out.add(deletion, decisions.revision_key);
  for (Problem& problem : decisions.problems) out.add_problem(std::move(problem));
  for (ChildDecision& child : decisions.group_children) out.add(Step::kGroupChildren, std::move(child));
  for (const Revision& revision : decisions.expired_revisions) {
    out.add(Step::kRevisionDeletes, Action::remove(kControllerRevisions, revision.object, {.uid = revision.uid}),
            fmt::format("revision {} is unused: deleting it", revision.key));
  }
  out.add_problem(std::move(decisions.last_failure));
  out.requeue_within(decisions.requeue_after);
  const Json before = plan::status_of(seen.set);
  Json status = next_status(before,
                            {spec, groups, decisions.revision_key,
                             leader_set == nullptr ? 0 : leader_set->replicas_created, out.problems(), seen.now},
                            out.changes());
  return to_plan(std::move(out.changes()), before, std::move(status));
}

}  // namespace tpuslice::leaderworkerset
