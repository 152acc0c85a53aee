#include "controllers/leaderworkerset/status.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/labels.h"
#include "tpu/waiting.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::EventType;

struct Counts {
  int ready = 0;         ///< Of all groups, those of a surge included.
  int updated = 0;       ///< Likewise.
  int settled = 0;       ///< Groups below the replicas that are ready and, where a rollout reaches them, updated.
  std::string outdated;  ///< Groups that a rollout is still to reach, by index; empty without.
};

Counts count(const StatusFacts& facts) {
  Counts out;
  for (const Group& group : facts.groups) {
    if (group.leader == nullptr) continue;
    const bool ready = group.ready();
    const bool updated = group.is_of(facts.revision_key);
    if (ready) ++out.ready;
    if (updated) ++out.updated;
    if (group.index >= facts.spec.replicas) continue;
    const bool in_reach = group.index >= facts.spec.rollout.partition;
    if (in_reach && group.is_outdated(facts.revision_key)) {
      out.outdated += (out.outdated.empty() ? "" : ", ") + std::to_string(group.index);
    }
    if (ready && (updated || !in_reach)) ++out.settled;
  }
  return out;
}

struct Phase {
  std::string_view type;
  std::string_view reason;
  std::string_view message;
};
constexpr Phase kAllReady{kAvailable, "AllGroupsReady", "All replicas are ready"};
constexpr Phase kUpdating{kUpdateInProgress, "GroupsUpdating", "Rolling Upgrade is in progress"};
constexpr Phase kMoving{kProgressing, "GroupsProgressing", "Replicas are progressing"};

/// A condition that is not true stays as it was, but for its status.
void set_phase(Json& conditions, const Phase& phase, bool value, const StatusFacts& facts, Changes& changes,
               const std::string& told) {
  const Json* before = find_condition(conditions, phase.type);
  if (before == nullptr && !value) return;
  const bool was = before != nullptr && string_at(*before, {"status"}) == "True";
  const std::string reason = value ? std::string(phase.reason) : string_at(*before, {"reason"});
  const std::string message = value ? std::string(phase.message) : string_at(*before, {"message"});
  if (was == value && !value) return;
  set_condition(conditions, {std::string(phase.type), value ? "True" : "False", reason, message, facts.spec.generation},
                facts.now);
  if (value && !was) changes.event(EventType::kNormal, phase.reason, told);
}

std::vector<PodPtr> pods_of(const std::vector<Group>& groups) {
  std::vector<PodPtr> pods;
  for (const Group& group : groups) {
    if (group.leader != nullptr) pods.push_back(group.leader);
    pods.insert(pods.end(), group.workers.begin(), group.workers.end());
  }
  return pods;
}

}  // namespace

Json next_status(const Json& before, const StatusFacts& facts, Changes& changes) {
  const Counts counts = count(facts);
  Json status = before.is_object() ? before : Json::object();
  status["replicas"] = facts.replicas;
  status["readyReplicas"] = counts.ready;
  status["updatedReplicas"] = counts.updated;
  status["observedGeneration"] = facts.spec.generation;
  status["hpaPodSelector"] =
      fmt::format("{}={},{}={}", tpu::kLwsName, facts.spec.key.name, tpu::kLwsWorkerIndex, kLeaderIndex);
  Json conditions = array_at(status, {"conditions"});
  remove_condition(conditions, kAccepted);
  const bool updating = !counts.outdated.empty();
  const bool available = !updating && counts.settled == facts.spec.replicas;
  if (available) {
    set_phase(conditions, kUpdating, false, facts, changes, {});
    set_phase(conditions, kMoving, false, facts, changes, {});
    set_phase(
        conditions, kAllReady, true, facts, changes,
        fmt::format("All replicas are ready, with {} ready out of {} replicas", counts.ready, facts.spec.replicas));
  } else {
    set_phase(conditions, kAllReady, false, facts, changes, {});
    if (updating) {
      set_phase(conditions, kUpdating, true, facts, changes,
                fmt::format("Updating replica(s) {} to revision {}", counts.outdated, facts.revision_key));
    }
    set_phase(
        conditions, kMoving, true, facts, changes,
        fmt::format("Replicas are progressing, with {} ready out of {} replicas", counts.ready, facts.spec.replicas));
  }
  tell_problems(conditions, facts.spec.generation, facts.now, changes);
  tpu::tell_waiting(pods_of(facts.groups), facts.spec.generation, facts.now, conditions);
  status["conditions"] = std::move(conditions);
  return status;
}

void tell_problems(Json& conditions, std::int64_t generation, Timestamp now, Changes& changes) {
  if (changes.problems.empty()) {
    remove_condition(conditions, kGroupsSound);
    return;
  }
  std::string message;
  for (const Problem& problem : changes.problems) message += (message.empty() ? "" : "; ") + problem.message;
  const Json* before = find_condition(conditions, kGroupsSound);
  const std::string& reason = changes.problems.front().reason;
  if (before == nullptr || string_at(*before, {"message"}) != message) {
    changes.event(EventType::kWarning, reason, message);
  }
  set_condition(conditions, {std::string(kGroupsSound), "False", reason, message, generation}, now);
}

Json refused_status(const Json& before, const LeaderWorkerSetSpec& spec, const std::string& why, Timestamp now,
                    Changes& changes) {
  Json status = before.is_object() ? before : Json::object();
  Json conditions = array_at(status, {"conditions"});
  const Json* told = find_condition(conditions, kAccepted);
  if (told == nullptr || string_at(*told, {"message"}) != why) {
    changes.event(EventType::kWarning, "InvalidLeaderWorkerSetSpec", why);
  }
  set_condition(conditions, {std::string(kAccepted), "False", "InvalidSpec", why, spec.generation}, now);
  status["conditions"] = std::move(conditions);
  changes.reasons.push_back("the spec is refused: " + why);
  return status;
}

}  // namespace tpuslice::leaderworkerset
