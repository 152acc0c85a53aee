#include "controllers/leaderworkerset/leaderworkerset_status.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::EventType;

struct Counts {
  int ready = 0;          ///< Groups, including the surge.
  int updated = 0;        ///< Updated groups, including the surge.
  int settled = 0;        ///< Groups below spec.replicas that are ready and, from the partition upwards, updated.
  bool updating = false;  ///< Some groups below spec.replicas are still to be updated.
};

Counts count(const StatusInput& input) {
  Counts out;
  for (const Group& group : input.groups) {
    if (group.leader == nullptr) continue;
    const bool ready = group.ready();
    const bool updated = group.has_revision(input.revision_key);
    if (ready) ++out.ready;
    if (updated) ++out.updated;
    if (group.index >= input.spec.replicas) continue;
    const bool in_rollout = group.index >= input.spec.rollout.partition;
    if (in_rollout && group.is_outdated(input.revision_key)) out.updating = true;
    if (ready && (updated || !in_rollout)) ++out.settled;
  }
  return out;
}

/// A condition of upstream about progress, as it is while True.
struct ProgressCondition {
  std::string_view type;
  std::string_view reason;
  std::string_view message;
};
constexpr ProgressCondition kAllReady{kAvailable, "AllGroupsReady", "All replicas are ready"};
constexpr ProgressCondition kUpdating{kUpdateInProgress, "GroupsUpdating", "Rolling Upgrade is in progress"};
constexpr ProgressCondition kGroupsProgressing{kProgressing, "GroupsProgressing", "Replicas are progressing"};

/// Upstream's conditions: absent until they are True for the first time; then a False one keeps reason and message.
class ProgressConditions {
 public:
  ProgressConditions(Json& conditions, const StatusInput& input) : conditions_(conditions), input_(input) {}

  void set_true(const ProgressCondition& condition) {
    set(condition.type, "True", condition.reason, condition.message);
  }
  void set_false(const ProgressCondition& condition) {
    if (const Json* before = find_condition(conditions_, condition.type)) {
      set(condition.type, "False", string_at(*before, {"reason"}), string_at(*before, {"message"}));
    }
  }
  /// Whether a status or the generation changed.
  [[nodiscard]] bool changed() const { return changed_; }

 private:
  void set(std::string_view type, std::string_view status, std::string_view reason, std::string_view message) {
    const Condition condition{std::string(type), std::string(status), std::string(reason), std::string(message),
                              input_.spec.generation};
    if (set_condition(conditions_, condition, input_.now)) changed_ = true;
  }

  Json& conditions_;
  const StatusInput& input_;
  bool changed_ = false;
};

/// Returns the condition that the event is about.
ProgressCondition set_progress(const Counts& counts, int replicas, ProgressConditions& conditions) {
  if (!counts.updating && counts.settled == replicas) {
    conditions.set_false(kUpdating);
    conditions.set_false(kGroupsProgressing);
    conditions.set_true(kAllReady);
    return kAllReady;
  }
  conditions.set_false(kAllReady);
  if (counts.updating) conditions.set_true(kUpdating);
  conditions.set_true(kGroupsProgressing);
  return counts.updating ? kUpdating : kGroupsProgressing;
}

/// Progress of the pods of groups below spec.replicas.
plan::PodProgress pod_progress(const StatusInput& input) {
  plan::PodProgress out{.all_created = true, .refused = input.refused, .all_started = true};
  int complete = 0;
  for (const Group& group : input.groups) {
    if (group.index >= input.spec.replicas || !group.complete()) continue;
    ++complete;
    if (!group.started()) out.all_started = false;
  }
  out.all_created = complete == input.spec.replicas;
  return out;
}

std::vector<PodPtr> pods_of(const std::vector<Group>& groups) {
  std::vector<PodPtr> pods;
  for (const Group& group : groups) {
    if (group.leader != nullptr) pods.push_back(group.leader);
    pods.insert(pods.end(), group.workers.begin(), group.workers.end());
  }
  return pods;
}

Problem join(const std::vector<Problem>& problems) {
  Problem out;
  for (const Problem& problem : problems) {
    if (out.reason.empty()) out.reason = problem.reason;
    out.message += (out.message.empty() ? "" : "; ") + problem.message;
  }
  return out;
}

void set_groups_healthy(Json& conditions, const LeaderWorkerSetSpec& spec, const Problem& problem, Timestamp now,
                        plan::Changes& changes) {
  const bool changed =
      plan::set_own_condition(conditions, kGroupsHealthy, problem,
                              "children can be created, and failed groups are restarted", spec.generation, now);
  if (changed && problem) changes.event(EventType::kWarning, problem.reason, problem.message);
}

/// Upstream's condition of KEP-820. The event is that of the problem.
void set_failed(Json& conditions, const StatusInput& input) {
  Condition failed{std::string(kFailed), "True", "MaxGroupRestartsExceeded", {}, input.spec.generation};
  if (input.failed.empty()) {
    const Json* const before = find_condition(conditions, kFailed);
    if (before == nullptr) return;
    failed.status = "False";
    failed.message = string_at(*before, {"message"});
  } else {
    std::vector<std::string> names;
    names.reserve(input.failed.size());
    for (const int group : input.failed) names.push_back(std::to_string(group));
    failed.message = fmt::format("Groups that have used up their restarts: {}", plan::join_names(names));
  }
  set_condition(conditions, failed, input.now);
}

Json object_or_empty(const Json& status) { return status.is_object() ? status : Json::object(); }

}  // namespace

Json next_status(const Json& before, const StatusInput& input, plan::Changes& changes) {
  const Counts counts = count(input);
  Json status = object_or_empty(before);
  status["replicas"] = input.replicas;
  status["readyReplicas"] = counts.ready;
  status["updatedReplicas"] = counts.updated;
  status["observedGeneration"] = input.spec.generation;
  status["hpaPodSelector"] = fmt::format("{}={},{}={}", kLwsName, input.spec.key.name, kLwsWorkerIndex, kLeaderIndex);
  Json conditions = array_at(status, {"conditions"});
  ProgressConditions progress(conditions, input);
  const ProgressCondition current = set_progress(counts, input.spec.replicas, progress);
  if (progress.changed()) {
    changes.events.push_back(condition_changed(current.reason, current.message, counts.ready, input.spec.replicas));
  }
  set_failed(conditions, input);
  plan::set_accepted(conditions, {}, input.spec.generation, input.now);
  set_groups_healthy(conditions, input.spec, join(input.problems), input.now, changes);
  plan::update_waiting_conditions(pods_of(input.groups), pod_progress(input), input.spec.generation, input.now,
                                  conditions);
  plan::set_observed_generation(conditions, input.spec.generation);
  status["conditions"] = std::move(conditions);
  return status;
}

Json refused_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& refusal, Timestamp now,
                    plan::Changes& changes) {
  Json status = object_or_empty(before);
  Json conditions = array_at(status, {"conditions"});
  if (plan::set_accepted(conditions, refusal, spec.generation, now)) {
    changes.event(EventType::kWarning, "InvalidLeaderWorkerSetSpec", refusal.message);
  }
  if (find_condition(conditions, kGroupsHealthy) == nullptr) {
    plan::set_own_condition(conditions, kGroupsHealthy, {"NotAccepted", "the spec is refused"}, {}, spec.generation,
                            now);
  }
  plan::update_waiting_conditions({}, {plan::PodProgress::Phase::kRefused}, spec.generation, now, conditions);
  plan::set_observed_generation_unless_true(conditions, spec.generation);
  status["conditions"] = std::move(conditions);
  return status;
}

Json conflict_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& conflict, Timestamp now,
                     plan::Changes& changes) {
  const Json* was = find_condition(array_at(object_or_empty(before), {"conditions"}), kGroupsHealthy);
  if (was == nullptr || string_at(*was, {"message"}) != conflict.message) {
    changes.event(EventType::kWarning, conflict.reason, conflict.message);
  }
  return blocked_status(before, spec, conflict, now);
}

Json blocked_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& problem, Timestamp now) {
  Json status = object_or_empty(before);
  Json conditions = array_at(status, {"conditions"});
  plan::set_accepted(conditions, {}, spec.generation, now);
  plan::set_own_condition(conditions, kGroupsHealthy, problem, {}, spec.generation, now);
  plan::update_waiting_conditions({}, {}, spec.generation, now, conditions);
  plan::set_observed_generation_unless_true(conditions, spec.generation);
  status["observedGeneration"] = spec.generation;
  status["conditions"] = std::move(conditions);
  return status;
}

}  // namespace tpuslice::leaderworkerset
