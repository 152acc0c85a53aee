#include "tests/laws/leaderworkerset_violations.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/conditions.h"
#include "controllers/leaderworkerset/groups/restarts.h"
#include "controllers/leaderworkerset/leaderworkerset_options.h"
#include "controllers/leaderworkerset/rollout/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/conditions.h"

namespace tpuslice::leaderworkerset {
namespace {

using plan::Action;
using plan::ActionKind;

std::string label_of(const StatefulSetView& object, std::string_view key) { return value_of(object.labels, key); }

/// The observation, indexed by ownership.
struct Observation {
  explicit Observation(const LeaderWorkerSetObserved& observed)
      : seen(observed), spec(LeaderWorkerSetSpec::read(observed.set)), leader_set(find_set(spec.key.name)) {
    for (const ObjectPtr& object : seen.revisions) revisions.push_back(Revision::read(object->object()));
    if (leader_set == nullptr) return;
    for (const PodPtr& pod : seen.pods) {
      const std::optional<int> group = parse_group_index(spec, pod->key.name);
      if (group && pod->controller && pod->controller->uid == leader_set->uid) leaders[*group] = pod.get();
    }
  }

  [[nodiscard]] const StatefulSetView* find_set(const std::string& name) const {
    const auto found =
        std::ranges::find(seen.stateful_sets, name, [](const StatefulSetPtr& set) { return set->key.name; });
    return found == seen.stateful_sets.end() ? nullptr : found->get();
  }
  [[nodiscard]] const PodView* find_pod(const std::string& name) const {
    const auto found = std::ranges::find(seen.pods, name, [](const PodPtr& pod) { return pod->key.name; });
    return found == seen.pods.end() ? nullptr : found->get();
  }
  [[nodiscard]] const ServiceView* find_service(const std::string& name) const {
    const auto found = std::ranges::find(seen.services, name, [](const ServicePtr& each) { return each->key.name; });
    return found == seen.services.end() ? nullptr : found->get();
  }
  [[nodiscard]] int size_of(const std::string& revision) const {
    const Revision* found = find_revision(revisions, revision);
    return found == nullptr ? spec.group.size
                            : static_cast<int>(int_at(found->data, {"spec", "leaderWorkerTemplate", "size"}, 1));
  }
  [[nodiscard]] const StatefulSetView* workers_of(const PodView& leader) const {
    const StatefulSetView* set = find_set(leader.key.name);
    return set != nullptr && set->controller && set->controller->uid == leader.uid ? set : nullptr;
  }
  [[nodiscard]] bool is_ready(const PodView& leader) const {
    if (leader.terminating() || leader.phase != PodPhase::kRunning || !leader.ready) return false;
    const int workers = std::stoi(leader.annotations.find(kLwsSize)->second) - 1;
    const StatefulSetView* set = workers_of(leader);
    return workers == 0 || (set != nullptr && set->available >= workers);
  }

  const LeaderWorkerSetObserved& seen;
  const LeaderWorkerSetSpec spec;
  const StatefulSetView* const leader_set;
  std::vector<Revision> revisions;
  std::map<int, const PodView*> leaders;  ///< By group.
};

class Checker {
 public:
  Checker(const Observation& observation, const plan::Plan& plan) : observation_(observation), plan_(plan) {}

  std::vector<std::string> check() {
    std::set<std::string> written;
    std::set<std::string> known;
    for (const Revision& revision : observation_.revisions) known.insert(revision.key);
    for (const plan::Stage& stage : plan_.stages) {
      std::set<std::string> created;
      for (const Action& action : stage.actions) {
        if (!written.insert(action.type.resource() + " " + action.key.name).second) report(action, "is written twice");
        if (action.kind == ActionKind::kCreate) check_create(action, known);
        if (action.kind == ActionKind::kPatch) check_patch(action, known);
        if (action.kind == ActionKind::kDelete) check_delete(action);
        if (action.kind == ActionKind::kCreate && action.type == kControllerRevisions) {
          created.insert(string_at(action.body.make().value(), {"metadata", "labels", kRevisionKey}));
        }
      }
      known.merge(created);  // Later stages may refer to them.
    }
    check_availability();
    if (plan_.requeue_after && *plan_.requeue_after <= Duration{}) out_.emplace_back("requeue_after is not positive");
    const Json* status = find_path(observation_.seen.set.json(), {"status"});
    if (plan_.status && status != nullptr && plan_.status->status == *status)
      out_.emplace_back("the status patch changes nothing");
    return std::move(out_);
  }

 private:
  void report(const Action& action, const std::string& what) {
    out_.push_back(fmt::format("{} {}: {}", action.type.plural, action.key.name, what));
  }

  void check_create(const Action& action, const std::set<std::string>& known) {
    if (action.type == kServices && observation_.find_service(action.key.name) != nullptr) report(action, "exists");
    if (action.type != kStatefulSets) return;
    if (observation_.find_set(action.key.name) != nullptr) report(action, "exists");
    const Json created = action.body.make().value();
    const std::string revision = string_at(created, {"metadata", "labels", kRevisionKey});
    if (!known.contains(revision)) report(action, "refers to a revision that does not exist");
    if (action.key.name != observation_.spec.key.name) check_new_workers(action, created, revision);
  }

  void check_new_workers(const Action& action, const Json& created, const std::string& revision) {
    const std::optional<int> group = parse_group_index(observation_.spec, action.key.name);
    const auto found = group ? observation_.leaders.find(*group) : observation_.leaders.end();
    if (found == observation_.leaders.end()) return report(action, "has no leader");
    const PodView& leader = *found->second;
    if (leader.terminating() || deletes(leader)) report(action, "is owned by a leader that is deleted");
    if (string_at(created, {"metadata", "ownerReferences", "0", "uid"}) != leader.uid)
      report(action, "is owned by another leader");
    if (leader.label(kRevisionKey) != revision) report(action, "has another revision than its leader");
    if (int_at(created, {"spec", "replicas"}) != observation_.size_of(revision) - 1) report(action, "has another size");
    if (observation_.spec.startup == StartupPolicy::kLeaderReady && !leader.ready)
      report(action, "is created before its leader is ready");
  }

  void check_patch(const Action& action, const std::set<std::string>& known) {
    if (action.type == kServices) {
      const ServiceView* live = observation_.find_service(action.key.name);
      if (live == nullptr || live->uid != action.preconditions.uid)
        return report(action, "does not exist with that uid");
      if (live->controller && live->controller->uid == "uid-of-another-owner") report(action, "has another owner");
      return;
    }
    const StatefulSetView* live = observation_.find_set(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return report(action, "does not exist with that uid");
    const Json patch = action.body.make().value();
    if (live == observation_.leader_set) {
      const std::string revision = string_at(patch, {"metadata", "labels", kRevisionKey});
      if (!revision.empty() && !known.contains(revision)) report(action, "refers to a revision that does not exist");
      return;
    }
    if (!live->controller || live->controller->uid == "uid-of-another-owner") report(action, "has another owner");
    if (find_path(patch, {"spec", "template"}) != nullptr) report(action, "updates the workers of a group one by one");
  }

  void check_delete(const Action& action) {
    if (action.preconditions.uid.empty()) report(action, "is deleted without a uid");
    if (action.type == kControllerRevisions) return check_deleted_revision(action);
    if (action.type == kStatefulSets) return check_deleted_set(action);
    const PodView* pod = observation_.find_pod(action.key.name);
    if (pod == nullptr || pod->uid != action.preconditions.uid) return report(action, "does not exist with that uid");
    if (pod->terminating()) report(action, "is already terminating");
    const std::optional<int> group = parse_group_index(observation_.spec, action.key.name);
    if (!group || !observation_.leaders.contains(*group)) return check_deleted_worker(action, *pod);
    if (action.propagation != plan::Propagation::kForeground) report(action, "is not deleted in the foreground");
    const bool has_reason = is_broken(*pod) || is_recorded(*group, *pod) || is_to_be_updated(*group, *pod);
    if (!has_reason) report(action, "is deleted without a reason");
    if (observation_.spec.restarts == RestartPolicy::kNone && !is_to_be_updated(*group, *pod)) {
      report(action, "is restarted despite restartPolicy None");
    }
  }

  /// Its leader is deleted by the same plan.
  void check_deleted_set(const Action& action) {
    const StatefulSetView* set = observation_.find_set(action.key.name);
    if (set == nullptr || set->uid != action.preconditions.uid) return report(action, "does not exist with that uid");
    if (set->deletion) report(action, "is already terminating");
    if (action.propagation != plan::Propagation::kForeground) report(action, "is not deleted in the foreground");
    const PodView* leader = set->controller ? observation_.find_pod(set->controller->name) : nullptr;
    const bool leader_deleted = leader != nullptr && leader->uid == set->controller->uid && deletes(*leader);
    if (!leader_deleted) report(action, "is deleted without its leader");
  }

  void check_deleted_worker(const Action& action, const PodView& pod) {
    const StatefulSetView* set = pod.controller ? observation_.find_set(pod.controller->name) : nullptr;
    if (set == nullptr || set->uid != pod.controller->uid) return report(action, "is not a pod of a group");
    const PodView* leader = set->controller ? observation_.find_pod(set->controller->name) : nullptr;
    if (leader == nullptr || leader->uid != set->controller->uid || !deletes(*leader)) {
      report(action, "is deleted without its leader");
    }
  }

  void check_deleted_revision(const Action& action) {
    const auto revision = std::ranges::find(observation_.revisions, action.key, &Revision::object);
    if (revision == observation_.revisions.end()) return report(action, "does not exist with that uid");
    for (const auto& [group, leader] : observation_.leaders) {
      if (leader->label(kRevisionKey) == revision->key) report(action, "is deleted, but in use");
    }
  }

  [[nodiscard]] bool deletes(const PodView& pod) const {
    return std::ranges::any_of(plan_.stages, [&](const plan::Stage& stage) {
      return std::ranges::any_of(stage.actions, [&](const Action& action) {
        return action.kind == ActionKind::kDelete && action.type == kPods && action.key == pod.key;
      });
    });
  }

  /// A pod of the group failed, terminates, was restarted or was replaced.
  [[nodiscard]] bool is_broken(const PodView& leader) const {
    const auto has_failed = [](const PodView& pod) { return pod.terminating() || pod.finished() || pod.restarted; };
    if (has_failed(leader)) return true;
    const StatefulSetView* set = observation_.workers_of(leader);
    if (set == nullptr) return false;
    for (const PodPtr& pod : observation_.seen.pods) {
      if (pod->controller && pod->controller->uid == set->uid && has_failed(*pod)) return true;
    }
    return !set->annotation(kMembers).empty();
  }

  /// A restart that deletes this leader has begun.
  [[nodiscard]] bool is_recorded(int group, const PodView& leader) const {
    const RestartRecords records = read_restarts(observation_.leader_set->annotation(kRestarts));
    const auto record = records.find(group);
    return record != records.end() && record->second.leader == leader.uid;
  }

  [[nodiscard]] bool is_to_be_updated(int group, const PodView& leader) const {
    return group >= observation_.leader_set->partition() &&
           leader.label(kRevisionKey) != label_of(*observation_.leader_set, kRevisionKey);
  }

  /// Ready groups that the rollout does not delete with this leader set.
  [[nodiscard]] int ready_with(const Json& leader_set, const std::string& revision) const {
    const auto partition = int_at(leader_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    int count = 0;
    for (const auto& [group, leader] : observation_.leaders) {
      const bool live = group < partition || leader->label(kRevisionKey) == revision;
      if (group < int_at(leader_set, {"spec", "replicas"}) && live && observation_.is_ready(*leader)) ++count;
    }
    return count;
  }

  [[nodiscard]] bool is_stuck(const PodView& leader) const {
    return !observation_.is_ready(leader) && leader.created &&
           observation_.seen.now - *leader.created >= Options{}.stuck_after;
  }

  /// All groups above the partition are ready and updated.
  [[nodiscard]] bool is_updated_above_partition(const Json& leader_set) const {
    const auto partition = int_at(leader_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const std::string revision = string_at(leader_set, {"metadata", "labels", kRevisionKey});
    return std::ranges::all_of(observation_.leaders, [&](const auto& each) {
      const auto& [group, leader] = each;
      return group <= partition || (observation_.is_ready(*leader) && leader->label(kRevisionKey) == revision);
    });
  }

  /// A rollout keeps replicas - maxUnavailable groups ready, or all that are ready if there are fewer.
  void check_availability() {
    if (observation_.leader_set == nullptr) return;
    const StatefulSetView& live = *observation_.leader_set;
    const Json before = {{"metadata", {{"labels", live.labels}, {"annotations", live.annotations}}},
                         {"spec", live.settings}};
    const std::string annotated = string_at(before, {"metadata", "annotations", kReplicas});
    if (annotated != std::to_string(observation_.spec.replicas)) return;  // Scaled at the same time.
    Json after = before;
    for (const plan::Stage& stage : plan_.stages) {
      for (const Action& action : stage.actions) {
        if (action.key == observation_.spec.key && action.type == kStatefulSets)
          after.merge_patch(action.body.make().value());
      }
    }
    const int required = observation_.spec.replicas - observation_.spec.rollout.max_unavailable;
    const int ready_before = ready_with(before, label_of(*observation_.leader_set, kRevisionKey));
    const int ready_after = ready_with(after, string_at(after, {"metadata", "labels", kRevisionKey}));
    // Above a stuck group, ready groups may be updated one at a time.
    const bool any_stuck =
        std::ranges::any_of(observation_.leaders, [&](const auto& each) { return is_stuck(*each.second); });
    const int allowance = any_stuck && is_updated_above_partition(after) ? 1 : 0;
    if (ready_after + allowance < std::min(ready_before, required)) {
      out_.push_back(fmt::format("{} of {} ready groups stay; {} are required", ready_after, ready_before, required));
    }
    const auto max_replicas = std::max<std::int64_t>(int_at(before, {"spec", "replicas"}),
                                                     observation_.spec.replicas + observation_.spec.rollout.max_surge);
    if (int_at(after, {"spec", "replicas"}) > max_replicas)
      out_.emplace_back("there are more groups than maxSurge allows");
  }

  const Observation& observation_;
  const plan::Plan& plan_;
  std::vector<std::string> out_;
};

/// The surge that groups below the partition keep.
int kept_surge(const Observation& observation, const std::string& revision) {
  const int replicas = observation.spec.replicas;
  const Rollout& rollout = observation.spec.rollout;
  if (rollout.partition >= replicas) return 0;
  const auto old = static_cast<int>(std::ranges::count_if(observation.leaders, [&](const auto& each) {
    return each.first < rollout.partition && each.second->label(kRevisionKey) != revision;
  }));
  const int surge = std::min(rollout.max_surge, replicas);
  return old > surge ? surge : std::max(0, old - rollout.max_unavailable);
}

/// Revisions that are not used, although another one has the same data.
std::vector<std::string> repeated_revisions(const Observation& observation) {
  std::set<std::string> used = {label_of(*observation.leader_set, kRevisionKey)};
  for (const auto& [group, leader] : observation.leaders) used.insert(leader->label(kRevisionKey));
  std::vector<std::string> out;
  for (const Revision& revision : observation.revisions) {
    if (used.contains(revision.key)) continue;
    const auto equal = std::ranges::count(observation.revisions, revision.data, &Revision::data);
    if (equal > 1) out.push_back(fmt::format("revision {} repeats another one", revision.key));
  }
  return out;
}

}  // namespace

std::vector<std::string> plan_violations(const LeaderWorkerSetObserved& seen, const plan::Plan& plan) {
  const Observation observation(seen);
  return Checker(observation, plan).check();
}

std::vector<std::string> settled_violations(const LeaderWorkerSetObserved& seen) {
  std::vector<std::string> out;
  const Observation observation(seen);
  const Json& status = observation.seen.set.json()["status"];
  const Json& conditions = array_at(status, {"conditions"});
  // Reported to the user.
  for (const std::string_view type : {plan::kAccepted, kGroupsHealthy}) {
    if (condition_status(conditions, type) != "True") return out;
  }
  if (observation.leader_set == nullptr) return {"the leader set does not exist"};
  const std::string revision = label_of(*observation.leader_set, kRevisionKey);
  if (find_revision(observation.revisions, revision) == nullptr) out.emplace_back("the revision does not exist");
  std::ranges::move(repeated_revisions(observation), std::back_inserter(out));
  if (!observation.leader_set->annotation(kLeaderTemplate).empty() &&
      observation.leader_set->pod_template.find("\"foreign\"") != std::string::npos) {
    out.emplace_back("the leader set keeps a template of another client");
  }
  const int expected = observation.spec.replicas + kept_surge(observation, revision);
  if (static_cast<int>(observation.leaders.size()) != expected) {
    out.push_back(fmt::format("{} groups instead of {}", observation.leaders.size(), expected));
  }
  for (const auto& [group, leader] : observation.leaders) {
    if (!observation.is_ready(*leader)) out.push_back(fmt::format("group {} is not ready", group));
    if (group >= observation.spec.rollout.partition && leader->label(kRevisionKey) != revision) {
      out.push_back(fmt::format("group {} has an old revision", group));
    }
    const bool own_service = observation.spec.group.service_per_group;
    if (own_service && observation.find_service(leader->key.name) == nullptr) {
      out.push_back(fmt::format("group {} has no service", group));
    }
  }
  if (!observation.spec.group.service_per_group && observation.find_service(observation.spec.key.name) == nullptr) {
    out.emplace_back("the shared service does not exist");
  }
  if (condition_status(conditions, kAvailable) != "True") out.emplace_back("it is not Available");
  return out;
}

}  // namespace tpuslice::leaderworkerset
