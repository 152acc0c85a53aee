#include "controllers/leaderworkerset/leaderworkerset_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/base/strings.h"
#include "controllers/leaderworkerset/decisions.h"
#include "controllers/leaderworkerset/drift.h"
#include "controllers/leaderworkerset/group_children.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/history.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "controllers/leaderworkerset/leaderworkerset_status.h"
#include "controllers/leaderworkerset/render.h"
#include "controllers/leaderworkerset/restarts.h"
#include "controllers/leaderworkerset/rollout.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/plan/child.h"
#include "tpu/rules/limits.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::Plan;

using Requeue = std::optional<Duration>;

/// Groups to restart now, and why others are not.
struct Restarts {
  GroupDeletions deletions;
  std::vector<Problem> problems;
  Requeue requeue_after;  ///< End of the next back-off.
  std::string records;    ///< New value of the annotation kRestarts; empty if it does not change.
};

class Planner {
 public:
  Planner(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, const StatefulSetView* leader_set,
          const Options& options)
      : spec_(spec),
        observed_(seen),
        leader_set_(leader_set),
        options_(options),
        history_(read_history(spec, seen, leader_set)),
        groups_(read_groups(spec, seen, leader_set, history_.revisions, std::max(spec.replicas, leader_replicas()))) {}

  [[nodiscard]] Plan plan() const { return render(spec_, observed_, groups_, leader_set_, decide()); }

 private:
  [[nodiscard]] Decisions decide() const {
    const RolloutStep step = next_rollout_step();
    Decisions out{.revision_key = history_.desired,
                  .revision_name = name_of_revision(),
                  .is_update = history_.leader_set_outdated,
                  .step = step};
    const ServicesByName services(observed_.services);
    Restarts restarts = decide_restarts();
    out.deletions = std::move(restarts.deletions);
    out.deletions.merge(decide_updates());  // A group that restarts is not deleted twice.
    out.problems = std::move(restarts.problems);
    out.requeue_after = restarts.requeue_after;
    if (const Requeue stuck = until_stuck()) set_earlier(out.requeue_after, *stuck);
    const Requeue rollout_retry = until_rollout_retry();
    const bool revision_is_missing = rollout_retry && history_.missing;
    add_group_children(services, revision_is_missing ? history_.desired : std::string(), out);
    if (rollout_retry && concerns_groups(out)) {
      out.rollout_waits = true;
      out.leader_set = record_restarts(restarts.records);
      set_earlier(out.requeue_after, *rollout_retry);
    } else {
      add_rollout(restarts.records, services, out);
    }
    // A failed status write is not reported: that would be another status write.
    const auto& failure = observed_.last_failure;
    if (failure && is_failed_write(failure->reason)) out.last_failure = {failure->reason, failure->message};
    return out;
  }

  /// Worker sets and services of groups that stay. Groups of the revision `without` are left out, unless it is empty.
  void add_group_children(const ServicesByName& services, const std::string& without, Decisions& out) const {
    GroupTemplates templates(history_.revisions, observed_.set);
    for (const Group& group : groups_) {
      if (out.group_children.size() >= rules::kMaxCreatesPerPlan) break;
      if (!has_live_leader(group) || out.deletions.contains(group.index)) continue;
      if (!without.empty() && group.revision_key() == without) continue;
      for (WriteOrProblem& child : decide_group_children(spec_, observed_, services, templates, group)) {
        if (child.write || child.problem || child.requeue_after) out.group_children.push_back(std::move(child));
      }
    }
  }

  void add_rollout(const std::string& restart_records, const ServicesByName& services, Decisions& out) const {
    if (history_.missing) {
      out.revision.write = {Action::create(kControllerRevisions, Object(*history_.missing)),
                            fmt::format("revision {} is missing: creating it", history_.desired)};
    }
    if (!spec_.group.service_per_group) out.shared_service = decide_service(build_shared_service(spec_), services);
    out.leader_set = decide_leader_set(out.step, restart_records);
    out.expired_revisions = expired_revisions(history_, groups_, leader_set_, options_.revision_history_limit);
  }

  [[nodiscard]] static bool concerns_groups(const Decisions& decisions) {
    return !decisions.deletions.empty() ||
           std::ranges::any_of(decisions.group_children, [](const auto& child) { return child.write.has_value(); });
  }

  /// Until the refused writes of a rollout are tried again, even if groups need something. nullopt: now.
  [[nodiscard]] Requeue until_rollout_retry() const {
    return plan::until_retry(observed_.last_failure, kFailedRollout, observed_.now);
  }

  // From the live leader set, limited to the replicas and surge of the largest set, since users may edit it.
  [[nodiscard]] int leader_replicas() const {
    return leader_set_ == nullptr ? 0 : static_cast<int>(std::min<std::int64_t>(leader_set_->replicas(), kMaxGroups));
  }
  [[nodiscard]] int partition() const {
    return leader_set_ == nullptr ? 0 : static_cast<int>(std::min<std::int64_t>(leader_set_->partition(), kMaxGroups));
  }

  [[nodiscard]] plan::ObjectReference name_of_revision() const {
    const Revision* const revision = find_revision(history_.revisions, history_.desired);
    return {kControllerRevisions.api_version(),
            std::string(kControllerRevisions.kind),
            revision->object,
            revision->uid,
            {}};
  }

  [[nodiscard]] static bool has_live_leader(const Group& group) {
    return group.leader != nullptr && !group.leader->terminating();
  }
  /// The group has a live leader that the StatefulSet controller does not delete by scaling down.
  [[nodiscard]] bool has_lasting_leader(const Group& group) const {
    return has_live_leader(group) && group.index < leader_replicas();
  }

  [[nodiscard]] Restarts decide_restarts() const {
    Restarts out;
    if (leader_set_ == nullptr) return out;
    const RestartRecords stored = read_restarts(leader_set_->annotation(kRestarts));
    RestartRecords records = stored;
    const auto annotation = spec_.annotations.find(kMaxRestarts);
    const std::optional<int> limit =
        annotation == spec_.annotations.end() ? std::nullopt : parse_count(annotation->second);
    for (const Group& group : groups_) {
      if (!has_lasting_leader(group)) continue;
      std::optional<GroupFailure> failure = failure_of(spec_, group, options_);
      if (!failure) continue;
      const RestartDecision decision = decide_restart(group, records, limit, observed_.now, options_);
      switch (decision.kind) {
        case RestartDecision::Kind::kRestart:
          records[group.index] = decision.record;
          out.deletions[group.index] = {group, std::move(failure)};
          break;
        case RestartDecision::Kind::kBackOff:
          set_earlier(out.requeue_after, Duration(decision.due - observed_.now));
          break;
        case RestartDecision::Kind::kExhausted:
          if (!decision.record.exhausted.empty()) records[group.index] = decision.record;
          out.problems.push_back(
              {"RestartsExhausted",
               fmt::format("group {} is not restarted again after {} restarts ({}): {}; delete pod {} to restart it",
                           group.index, decision.record.count, kMaxRestarts, failure->cause, group.leader->key.name)});
          break;
      }
    }
    if (records != stored) out.records = format_restarts(records, leader_replicas(), observed_.now, options_);
    return out;
  }

  /// Outdated groups, once the StatefulSet controller would create their leaders with the new revision.
  [[nodiscard]] GroupDeletions decide_updates() const {
    GroupDeletions out;
    const bool leader_set_observed = leader_set_ != nullptr && !history_.leader_set_outdated &&
                                     leader_set_->observed_generation >= leader_set_->generation;
    if (!leader_set_observed) return out;
    for (const Group& group : groups_) {
      if (!has_lasting_leader(group) || group.index < partition()) continue;
      if (group.revision_key() != history_.desired) out[group.index] = {group};
    }
    return out;
  }

  [[nodiscard]] RolloutStep next_rollout_step() const {
    RolloutState state{spec_.replicas, spec_.rollout, std::nullopt, history_.leader_set_outdated, {}};
    if (leader_set_ != nullptr) {
      const std::optional<int> annotated = parse_count(leader_set_->annotation(kReplicas));
      state.leader_set = {leader_replicas(), partition(), annotated.value_or(leader_replicas())};
    }
    for (const Group& group : groups_) {
      const std::optional<Timestamp> stuck = stuck_from(group);
      state.groups.resize(static_cast<std::size_t>(group.index) + 1);
      state.groups.back() = {group.ready(), group.has_revision(history_.desired), group.is_outdated(history_.desired),
                             stuck && *stuck <= observed_.now};
    }
    return next_step(state);
  }

  /// The time until the next group is stuck.
  [[nodiscard]] Requeue until_stuck() const {
    Requeue out;
    for (const Group& group : groups_) {
      const std::optional<Timestamp> stuck = stuck_from(group);
      if (stuck && *stuck > observed_.now) set_earlier(out, Duration(*stuck - observed_.now));
    }
    return out;
  }

  /// When an outdated group counts as stuck; nullopt if it is ready or up to date.
  [[nodiscard]] std::optional<Timestamp> stuck_from(const Group& group) const {
    if (group.leader == nullptr || group.ready() || !group.is_outdated(history_.desired)) return std::nullopt;
    return group.leader->created.value_or(observed_.now) + options_.stuck_after;
  }

  /// The leader set as it is, with other records.
  [[nodiscard]] WriteOrProblem record_restarts(const std::string& records) const {
    if (records.empty()) return {};
    Json patch;
    patch["metadata"]["annotations"][std::string(kRestarts)] = records;
    return patch_leader_set(std::move(patch), "leader set: restarts of groups");
  }

  [[nodiscard]] WriteOrProblem patch_leader_set(Json patch, std::string reason) const {
    return {.write = PlannedWrite{
                Action::patch(kStatefulSets, leader_set_->key, std::move(patch), {.uid = leader_set_->uid}),
                std::move(reason)}};
  }

  [[nodiscard]] WriteOrProblem decide_leader_set(const RolloutStep& next, const std::string& restart_records) const {
    Json desired = build_leader_set(spec_, {history_.desired, next.replicas, next.partition});
    if (!restart_records.empty()) desired["metadata"]["annotations"][std::string(kRestarts)] = restart_records;
    if (leader_set_ == nullptr) {
      return {.write =
                  PlannedWrite{Action::create(kStatefulSets, Object(std::move(desired))),
                               fmt::format("the leader set is missing: creating it with {} groups", next.replicas)}};
    }
    Json patch =
        restore_set(desired, *leader_set_, history_.leader_set_outdated ? PodTemplate::kReplace : PodTemplate::kIgnore);
    if (patch.is_null()) return {};
    return patch_leader_set(std::move(patch), fmt::format("leader set: {} groups, partition {}, revision {}",
                                                          next.replicas, next.partition, history_.desired));
  }

  const LeaderWorkerSetSpec& spec_;
  const LeaderWorkerSetObserved& observed_;
  const StatefulSetView* const leader_set_;
  const Options& options_;
  const History history_;
  const std::vector<Group> groups_;
};

/// The leader set belongs to a deleted LeaderWorkerSet of the same name; the garbage collector deletes it.
bool has_earlier_owner(const StatefulSetView& leader_set, const LeaderWorkerSetSpec& spec) {
  return plan::ownership(spec.owner, leader_set.controller) == plan::Ownership::kEarlierOwner;
}

const StatefulSetView* find_leader_set(const LeaderWorkerSetObserved& seen, const LeaderWorkerSetSpec& spec) {
  const auto found =
      std::ranges::find_if(seen.stateful_sets, [&](const StatefulSetPtr& set) { return set->key == spec.key; });
  return found == seen.stateful_sets.end() ? nullptr : found->get();
}

/// Deletes the groups that a refused spec no longer asks for, which needs none of what it may be refused for. Nothing
/// unless the leader set is ours and the number was lowered since it was accepted.
std::optional<Action> scale_down(const LeaderWorkerSetObserved& seen, const LeaderWorkerSetSpec& spec) {
  const StatefulSetView* set = find_leader_set(seen, spec);
  const auto wanted = int32_at(seen.set.json(), {"spec", "replicas"});
  if (set == nullptr || set->deletion || !set->controller || set->controller->uid != spec.uid) return std::nullopt;
  if (!wanted || *wanted < 0 || *wanted >= set->replicas()) return std::nullopt;
  const std::optional<int> accepted = parse_count(set->annotation(kReplicas));
  if (accepted && *wanted >= *accepted) return std::nullopt;  // The others are surge groups.
  Json patch = {{"spec", {{"replicas", *wanted}}}};
  patch["metadata"]["annotations"][std::string(kReplicas)] = std::to_string(*wanted);
  Action action = Action::patch(kStatefulSets, set->key, std::move(patch), {.uid = set->uid});
  action.failure_reason = kFailedUpdate;
  return action;
}

enum class RefusedStep : std::uint8_t { kLeaderSet };

}  // namespace

Result<Plan> plan_leaderworkerset(const LeaderWorkerSetObserved& seen, const Options& options) {
  if (seen.set.deletion_timestamp()) return Plan{};
  const LeaderWorkerSetSpec& spec = seen.set.spec();
  const Json before = plan::status_of(seen.set);
  plan::Changes changes;
  if (const Problem refusal = rules::refusal(rules::validate_stored_leaderworkerset(seen.set))) {
    Json status = refused_status(before, spec, refusal, seen.now, changes);
    changes.reasons.push_back("the spec is refused: " + refusal.message);
    if (std::optional<Action> action = scale_down(seen, spec)) {
      changes.add(RefusedStep::kLeaderSet, *std::move(action));
      changes.reasons.push_back(fmt::format("leader set: {} groups", spec.replicas));
    }
    return to_plan(std::move(changes), before, std::move(status));
  }
  const StatefulSetView* leader_set = find_leader_set(seen, spec);
  if (leader_set != nullptr && leader_set->deletion) return Plan{};  // Created again after its deletion.
  if (leader_set != nullptr && has_earlier_owner(*leader_set, spec)) {
    Json status = blocked_status(before, spec,
                                 {"LeaderSetTerminating", fmt::format("StatefulSet {} of a LeaderWorkerSet that was "
                                                                      "deleted is being deleted",
                                                                      leader_set->key.to_string())},
                                 seen.now);
    changes.requeue_within(plan::kConflictRetry);
    return to_plan(std::move(changes), before, std::move(status));
  }
  if (leader_set != nullptr && (!leader_set->controller || leader_set->controller->uid != spec.uid)) {
    const Problem conflict{"LeaderSetConflict",
                           fmt::format("StatefulSet {} does not belong to this LeaderWorkerSet: delete or rename one",
                                       leader_set->key.to_string())};
    Json status = conflict_status(before, spec, conflict, seen.now, changes);
    changes.requeue_within(plan::kConflictRetry);
    return to_plan(std::move(changes), before, std::move(status));
  }
  return Planner(spec, seen, leader_set, options).plan();
}

}  // namespace tpuslice::leaderworkerset
