#include "controllers/leaderworkerset/leaderworkerset_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/leaderworkerset/changes.h"
#include "controllers/leaderworkerset/drift.h"
#include "controllers/leaderworkerset/group_children.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/history.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "controllers/leaderworkerset/restarts.h"
#include "controllers/leaderworkerset/rollout.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/leaderworkerset/status.h"
#include "webhook/rules/leaderworkerset/validator.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::Action;
using runtime::EventType;
using runtime::Plan;

Plan to_plan(const LeaderWorkerSetObserved& seen, Json status, Changes changes) {
  Plan plan;
  plan.reason = runtime::summary(changes.reasons);
  for (auto* actions :
       {&changes.revisions, &changes.sets, &changes.set_ends, &changes.ends, &changes.groups, &changes.leftovers}) {
    if (!actions->empty()) plan.stages.push_back({std::move(*actions), true});
  }
  if (status != runtime::status_of(seen.set)) {
    if (plan.reason.empty()) plan.reason = "status";
    plan.status = runtime::StatusPatch{std::move(status)};
  }
  plan.events = std::move(changes.events);
  plan.measurements = std::move(changes.measurements);
  plan.requeue_after = changes.requeue_after;
  return plan;
}

class Planner {
 public:
  Planner(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, const StatefulSetView* leader_set,
          const Options& options, Changes& changes)
      : spec_(spec),
        seen_(seen),
        leader_set_(leader_set),
        options_(options),
        changes_(changes),
        history_(plan_history(spec, seen, leader_set, changes)),
        groups_(read_groups(spec, seen, leader_set, history_.revisions, std::max(spec.replicas, leaders_wanted()))) {}

  Json plan() {
    if (!spec_.group.service_per_group) plan_service(build_shared_service(spec_), seen_, changes_.sets, changes_);
    plan_restarts();
    plan_leader_set();
    plan_update();
    GroupTemplates templates(history_.revisions, seen_.set);
    for (const Group& group : groups_) {
      const bool stays =
          group.leader != nullptr && !group.leader->terminating() && !is_ended(group) && group.index < leaders_wanted();
      if (stays) plan_group(spec_, seen_, templates, group, changes_);
    }
    prune_history(history_, groups_, leader_set_, options_.revisions_kept, changes_);
    return status();
  }

 private:
  // Of the leader set as it is.
  [[nodiscard]] int leaders_wanted() const {
    return leader_set_ == nullptr ? 0 : static_cast<int>(leader_set_->replicas());
  }
  [[nodiscard]] int partition() const {
    return leader_set_ == nullptr ? 0 : static_cast<int>(leader_set_->partition());
  }

  RolloutStep plan_step() {
    RolloutState state{spec_.replicas, spec_.rollout, std::nullopt, history_.is_new, {}};
    if (leader_set_ != nullptr) {
      const std::optional<int> counted = whole_number(leader_set_->annotation(kReplicas));
      state.leader_set = {leaders_wanted(), partition(), counted.value_or(leaders_wanted())};
    }
    for (const Group& group : groups_) {
      const std::optional<Timestamp> stuck = stuck_from(group);
      if (stuck && *stuck > seen_.now) changes_.look_again_in(*stuck - seen_.now);
      state.groups.resize(static_cast<std::size_t>(group.index) + 1);
      state.groups.back() = {group.ready(), group.is_of(history_.wanted), stuck && *stuck <= seen_.now};
    }
    return next_step(state);
  }
  /// When a group that is to be updated counts as stuck; nothing for one that is ready.
  [[nodiscard]] std::optional<Timestamp> stuck_from(const Group& group) const {
    if (group.leader == nullptr || group.ready() || !group.is_outdated(history_.wanted)) return std::nullopt;
    return group.leader->created.value_or(seen_.now) + options_.stuck_after;
  }

  void plan_leader_set() {
    const RolloutStep next = plan_step();
    Json wanted = build_leader_set(spec_, {history_.wanted, next.replicas, next.partition});
    if (!restarts_.empty()) wanted["metadata"]["annotations"][std::string(kRestarts)] = restarts_;
    if (leader_set_ == nullptr) {
      changes_.add(changes_.sets, Action::create(kStatefulSets, Object(std::move(wanted))),
                   fmt::format("the leader set is missing: creating it with {} groups", next.replicas));
      return;
    }
    Json patch = restore_set(wanted, *leader_set_, history_.is_new ? PodTemplate::kReplaced : PodTemplate::kLeftAlone);
    if (patch.is_null()) return;
    changes_.add(changes_.sets,
                 Action::patch(kStatefulSets, leader_set_->key, std::move(patch), {.uid = leader_set_->uid}),
                 fmt::format("leader set: {} groups, from {} on of revision {}", next.replicas, next.partition,
                             history_.wanted));
  }

  void plan_restarts() {
    if (leader_set_ == nullptr) return;
    RestartRecords records = read_restarts(leader_set_->annotation(kRestarts));
    const auto allowed = spec_.annotations.find(kMaxRestarts);
    const std::optional<int> limit = allowed == spec_.annotations.end() ? std::nullopt : whole_number(allowed->second);
    bool counted = false;
    for (const Group& group : groups_) {
      const std::string why = breakage_of(spec_, group);
      if (why.empty() || group.index >= leaders_wanted()) continue;
      const RestartVerdict verdict = judge_restart(group, records, limit, seen_.now, options_);
      switch (verdict.kind) {
        case RestartVerdict::Kind::kNow:
          counted = true;
          records[group.index] = verdict.record;
          restart(group, why, verdict.record.count);
          break;
        case RestartVerdict::Kind::kLater:
          changes_.look_again_in(verdict.due - seen_.now);
          break;
        case RestartVerdict::Kind::kExhausted:
          changes_.problems.push_back(
              {"RestartsExhausted",
               fmt::format("group {} is not restarted again after {} restarts ({}): {}; delete pod {} to try once more",
                           group.index, verdict.record.count, kMaxRestarts, why, group.leader->key.name)});
      }
    }
    if (counted) restarts_ = print_restarts(records, leaders_wanted());
  }

  void restart(const Group& group, const std::string& why, int count) {
    end(group, fmt::format("group {} is made anew: {}", group.index, why));
    const PodView& leader = *group.leader;
    changes_.event(EventType::kNormal, "RecreateGroup",
                   fmt::format("Recreating group {} (restart {} in a row): {}", group.index, count, why), leader.key,
                   runtime::ObjectReference{"v1", "Pod", leader.key, leader.uid, leader.resource_version});
    changes_.measurements.push_back({runtime::Measurement::Kind::kCount,
                                     "tpuslice_leaderworkerset_restarts_total",
                                     "Groups of LeaderWorkerSets that were made anew.",
                                     {},
                                     1,
                                     leader.key});
  }

  /// Leaders of the old revision go once their StatefulSet would make them of the new one.
  void plan_update() {
    const bool knows =
        leader_set_ != nullptr && !history_.is_new && leader_set_->observed_generation >= leader_set_->generation;
    if (!knows) return;
    for (const Group& group : groups_) {
      const bool outdated = group.leader != nullptr && group.revision_key() != history_.wanted;
      if (!outdated || group.leader->terminating() || is_ended(group)) continue;
      if (group.index < partition() || group.index >= leaders_wanted()) continue;
      end(group, fmt::format("group {} is updated to revision {}", group.index, history_.wanted));
    }
  }

  /// All at once: the garbage collector would come to the worker set after the leader, and then to its pods, with the
  /// few requests a second that kube-controller-manager has for all its work.
  void end(const Group& group, std::string why) {
    Action leader = Action::remove(kPods, group.leader->key, {.uid = group.leader->uid});
    leader.propagation = runtime::Propagation::kForeground;
    changes_.add(changes_.ends, std::move(leader), std::move(why));
    if (group.worker_set == nullptr) return;
    const StatefulSetView& set = *group.worker_set;
    if (!set.deletion) {
      Action workers = Action::remove(kStatefulSets, set.key, {.uid = set.uid});
      workers.propagation = runtime::Propagation::kForeground;
      changes_.add(changes_.set_ends, std::move(workers), fmt::format("with the worker set of group {}", group.index));
    }
    for (const PodPtr& pod : group.workers) {
      if (!pod->terminating()) changes_.ends.push_back(Action::remove(kPods, pod->key, {.uid = pod->uid}));
    }
  }
  [[nodiscard]] bool is_ended(const Group& group) const {
    return std::ranges::any_of(changes_.ends, [&](const Action& action) { return action.key == group.leader->key; });
  }

  Json status() {
    // Not a failure to write the status: saying so would be the next one.
    if (seen_.last_failure &&
        (seen_.last_failure->reason == kFailedCreate || seen_.last_failure->reason == kFailedUpdate)) {
      changes_.problems.push_back({seen_.last_failure->reason, seen_.last_failure->message});
    }
    const StatusFacts facts{spec_, groups_, history_.wanted, leader_set_ == nullptr ? 0 : leader_set_->made, seen_.now};
    return next_status(runtime::status_of(seen_.set), facts, changes_);
  }

  const LeaderWorkerSetSpec& spec_;
  const LeaderWorkerSetObserved& seen_;
  const StatefulSetView* const leader_set_;
  const Options& options_;
  Changes& changes_;
  const History history_;
  const std::vector<Group> groups_;
  std::string restarts_;  ///< The annotation kRestarts where it changes.
};

}  // namespace

Result<Plan> plan_leaderworkerset(const LeaderWorkerSetObserved& seen, const Options& options) {
  if (seen.set.deletion_timestamp()) return Plan{};
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(seen.set);
  Changes changes;
  if (const auto errors = webhook::validate_leaderworkerset(seen.set.json(), nullptr); !errors.empty()) {
    Json status = refused_status(runtime::status_of(seen.set), spec, webhook::to_message(errors), seen.now, changes);
    return to_plan(seen, std::move(status), std::move(changes));
  }
  const auto found =
      std::ranges::find_if(seen.stateful_sets, [&](const StatefulSetPtr& set) { return set->key == spec.key; });
  const StatefulSetView* leader_set = found == seen.stateful_sets.end() ? nullptr : found->get();
  if (leader_set != nullptr && leader_set->deletion) return Plan{};  // Made anew once it is gone.
  if (leader_set != nullptr && (!leader_set->controller || leader_set->controller->uid != spec.uid)) {
    changes.look_again_in(runtime::kConflictRetry);
    changes.problems.push_back(
        {"LeaderSetConflict",
         fmt::format("StatefulSet {} does not belong to this LeaderWorkerSet: delete or rename one of them",
                     leader_set->key.to_string())});
    Json status = runtime::status_of(seen.set);
    if (!status.is_object()) status = Json::object();
    Json conditions = array_at(status, {"conditions"});
    tell_problems(conditions, spec.generation, seen.now, changes);
    status["conditions"] = std::move(conditions);
    return to_plan(seen, std::move(status), std::move(changes));
  }
  Planner planner(spec, seen, leader_set, options, changes);
  Json status = planner.plan();
  return to_plan(seen, std::move(status), std::move(changes));
}

}  // namespace tpuslice::leaderworkerset
