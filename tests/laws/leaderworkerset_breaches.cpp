#include "tests/laws/leaderworkerset_breaches.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/conditions.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/options.h"
#include "controllers/leaderworkerset/revisions.h"
#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {
namespace {

using runtime::Action;
using runtime::ActionKind;

std::string label_of(const StatefulSetView& object, std::string_view key) {
  const auto label = object.labels.find(key);
  return label == object.labels.end() ? std::string() : label->second;
}

/// What was seen, by who belongs to whom.
struct Scene {
  explicit Scene(const LeaderWorkerSetObserved& observed)
      : seen(observed), spec(LeaderWorkerSetSpec::read(observed.set)), leader_set(find_set(spec.key.name)) {
    for (const ObjectPtr& object : seen.revisions) revisions.push_back(Revision::read(object->object));
    if (leader_set == nullptr) return;
    for (const PodPtr& pod : seen.pods) {
      const std::optional<int> group = group_of(spec, pod->key.name);
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
    const int workers = std::stoi(leader.annotations.find(tpu::kLwsSize)->second) - 1;
    const StatefulSetView* set = workers_of(leader);
    return workers == 0 || (set != nullptr && set->available >= workers);
  }

  const LeaderWorkerSetObserved& seen;
  const LeaderWorkerSetSpec spec;
  const StatefulSetView* const leader_set;
  std::vector<Revision> revisions;
  std::map<int, const PodView*> leaders;  ///< By group.
};

class Judge {
 public:
  Judge(const Scene& scene, const runtime::Plan& plan) : scene_(scene), plan_(plan) {}

  std::vector<std::string> judge() {
    std::set<std::string> written;
    std::set<std::string> known;
    for (const Revision& revision : scene_.revisions) known.insert(revision.key);
    for (const runtime::Stage& stage : plan_.stages) {
      std::set<std::string> made;
      for (const Action& action : stage.actions) {
        if (!written.insert(action.type.resource() + " " + action.key.name).second)
          complain(action, "is written twice");
        if (action.kind == ActionKind::kCreate) judge_create(action, known);
        if (action.kind == ActionKind::kPatch) judge_patch(action, known);
        if (action.kind == ActionKind::kDelete) judge_delete(action);
        if (action.kind == ActionKind::kCreate && action.type == kControllerRevisions) {
          made.insert(string_at(action.body.make().value(), {"metadata", "labels", kRevisionKey}));
        }
      }
      known.merge(made);  // What one stage makes, the next may name.
    }
    judge_availability();
    if (plan_.requeue_after && *plan_.requeue_after <= Duration{}) out_.emplace_back("it is due again at once");
    const Json* status = find_path(scene_.seen.set.json(), {"status"});
    if (plan_.status && status != nullptr && plan_.status->status == *status)
      out_.emplace_back("the status is not new");
    return std::move(out_);
  }

 private:
  void complain(const Action& action, const std::string& what) {
    out_.push_back(fmt::format("{} {}: {}", action.type.plural, action.key.name, what));
  }

  void judge_create(const Action& action, const std::set<std::string>& known) {
    if (action.type == kServices && scene_.find_service(action.key.name) != nullptr) complain(action, "exists");
    if (action.type != kStatefulSets) return;
    if (scene_.find_set(action.key.name) != nullptr) complain(action, "exists");
    const Json made = action.body.make().value();
    const std::string revision = string_at(made, {"metadata", "labels", kRevisionKey});
    if (!known.contains(revision)) complain(action, "names a revision that is not there");
    if (action.key.name != scene_.spec.key.name) judge_new_workers(action, made, revision);
  }

  void judge_new_workers(const Action& action, const Json& made, const std::string& revision) {
    const std::optional<int> group = group_of(scene_.spec, action.key.name);
    const auto found = group ? scene_.leaders.find(*group) : scene_.leaders.end();
    if (found == scene_.leaders.end()) return complain(action, "has no leader");
    const PodView& leader = *found->second;
    if (leader.terminating() || ends(leader)) complain(action, "belongs to a leader that goes");
    if (string_at(made, {"metadata", "ownerReferences", "0", "uid"}) != leader.uid) complain(action, "is of another");
    if (leader.label(kRevisionKey) != revision) complain(action, "is not of its leader's revision");
    if (int_at(made, {"spec", "replicas"}) != scene_.size_of(revision) - 1) complain(action, "has another size");
    if (scene_.spec.startup == StartupPolicy::kLeaderReady && !leader.ready) complain(action, "comes before its turn");
  }

  void judge_patch(const Action& action, const std::set<std::string>& known) {
    if (action.type == kServices) {
      const ServiceView* live = scene_.find_service(action.key.name);
      if (live == nullptr || live->uid != action.preconditions.uid) return complain(action, "is not what was seen");
      if (live->controller && live->controller->uid == "uid-of-somebody") complain(action, "is somebody else's");
      return;
    }
    const StatefulSetView* live = scene_.find_set(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return complain(action, "is not what was seen");
    const Json patch = action.body.make().value();
    if (live == scene_.leader_set) {
      const std::string revision = string_at(patch, {"metadata", "labels", kRevisionKey});
      if (!revision.empty() && !known.contains(revision)) complain(action, "names a revision that is not there");
      return;
    }
    if (!live->controller || live->controller->uid == "uid-of-somebody") complain(action, "is somebody else's");
    if (find_path(patch, {"spec", "template"}) != nullptr) complain(action, "rolls the workers of a group one by one");
  }

  void judge_delete(const Action& action) {
    if (action.preconditions.uid.empty()) complain(action, "is deleted without a uid");
    if (action.type == kControllerRevisions) return judge_forgotten(action);
    if (action.type == kStatefulSets) return judge_ended_set(action);
    const PodView* pod = scene_.find_pod(action.key.name);
    if (pod == nullptr || pod->uid != action.preconditions.uid) return complain(action, "is not what was seen");
    if (pod->terminating()) complain(action, "is deleted again");
    const std::optional<int> group = group_of(scene_.spec, action.key.name);
    if (!group || !scene_.leaders.contains(*group)) return judge_ended_worker(action, *pod);
    if (action.propagation != runtime::Propagation::kForeground) complain(action, "goes before its workers");
    if (!is_broken(*pod) && !is_to_be_updated(*group, *pod)) complain(action, "is ended without need");
    if (scene_.spec.restarts == RestartPolicy::kNone && !is_to_be_updated(*group, *pod)) {
      complain(action, "is restarted against its policy");
    }
  }

  /// Its leader goes by the same plan.
  void judge_ended_set(const Action& action) {
    const StatefulSetView* set = scene_.find_set(action.key.name);
    if (set == nullptr || set->uid != action.preconditions.uid) return complain(action, "is not what was seen");
    if (set->deletion) complain(action, "is deleted again");
    if (action.propagation != runtime::Propagation::kForeground) complain(action, "goes before its pods");
    const PodView* leader = set->controller ? scene_.find_pod(set->controller->name) : nullptr;
    const bool ended = leader != nullptr && leader->uid == set->controller->uid && ends(*leader);
    if (!ended) complain(action, "is ended, but its leader stays");
  }

  void judge_ended_worker(const Action& action, const PodView& pod) {
    const StatefulSetView* set = pod.controller ? scene_.find_set(pod.controller->name) : nullptr;
    if (set == nullptr || set->uid != pod.controller->uid) return complain(action, "is no pod of a group");
    const PodView* leader = set->controller ? scene_.find_pod(set->controller->name) : nullptr;
    if (leader == nullptr || leader->uid != set->controller->uid || !ends(*leader)) {
      complain(action, "is ended, but its leader stays");
    }
  }

  void judge_forgotten(const Action& action) {
    const auto revision = std::ranges::find(scene_.revisions, action.key, &Revision::object);
    if (revision == scene_.revisions.end()) return complain(action, "is not what was seen");
    for (const auto& [group, leader] : scene_.leaders) {
      if (leader->label(kRevisionKey) == revision->key) complain(action, "is forgotten, but in use");
    }
  }

  [[nodiscard]] bool ends(const PodView& pod) const {
    return std::ranges::any_of(plan_.stages, [&](const runtime::Stage& stage) {
      return std::ranges::any_of(stage.actions, [&](const Action& action) {
        return action.kind == ActionKind::kDelete && action.type == kPods && action.key == pod.key;
      });
    });
  }

  /// Some pod of the group failed, goes, was restarted or was replaced.
  [[nodiscard]] bool is_broken(const PodView& leader) const {
    const auto has_trouble = [](const PodView& pod) { return pod.terminating() || pod.finished() || pod.restarted; };
    if (has_trouble(leader)) return true;
    const StatefulSetView* set = scene_.workers_of(leader);
    if (set == nullptr) return false;
    for (const PodPtr& pod : scene_.seen.pods) {
      if (pod->controller && pod->controller->uid == set->uid && has_trouble(*pod)) return true;
    }
    return !set->annotation(kMembers).empty();
  }

  [[nodiscard]] bool is_to_be_updated(int group, const PodView& leader) const {
    return group >= scene_.leader_set->partition() &&
           leader.label(kRevisionKey) != label_of(*scene_.leader_set, kRevisionKey);
  }

  /// Ready groups that no rollout ends where the leader set says this.
  [[nodiscard]] int kept_by(const Json& leader_set, const std::string& revision) const {
    const auto partition = int_at(leader_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    int kept = 0;
    for (const auto& [group, leader] : scene_.leaders) {
      const bool stays = group < partition || leader->label(kRevisionKey) == revision;
      if (group < int_at(leader_set, {"spec", "replicas"}) && stays && scene_.is_ready(*leader)) ++kept;
    }
    return kept;
  }

  [[nodiscard]] bool is_stuck(const PodView& leader) const {
    return !scene_.is_ready(leader) && leader.created && scene_.seen.now - *leader.created >= Options{}.stuck_after;
  }

  /// None of the groups that this leader set lets go, but the lowest, is still on its way.
  [[nodiscard]] bool is_quiet(const Json& leader_set) const {
    const auto partition = int_at(leader_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const std::string revision = string_at(leader_set, {"metadata", "labels", kRevisionKey});
    return std::ranges::all_of(scene_.leaders, [&](const auto& each) {
      const auto& [group, leader] = each;
      return group <= partition || (scene_.is_ready(*leader) && leader->label(kRevisionKey) == revision);
    });
  }

  /// A rollout takes no more than maxUnavailable, except from groups that are not ready anyhow.
  void judge_availability() {
    if (scene_.leader_set == nullptr) return;
    const StatefulSetView& live = *scene_.leader_set;
    const Json before = {{"metadata", {{"labels", live.labels}, {"annotations", live.annotations}}},
                         {"spec", live.settings}};
    const std::string counted = string_at(before, {"metadata", "annotations", kReplicas});
    if (counted != std::to_string(scene_.spec.replicas)) return;  // Scaled at the same time.
    Json after = before;
    for (const runtime::Stage& stage : plan_.stages) {
      for (const Action& action : stage.actions) {
        if (action.key == scene_.spec.key && action.type == kStatefulSets)
          after.merge_patch(action.body.make().value());
      }
    }
    const int least = scene_.spec.replicas - scene_.spec.rollout.max_unavailable;
    const int kept_before = kept_by(before, label_of(*scene_.leader_set, kRevisionKey));
    const int kept_after = kept_by(after, string_at(after, {"metadata", "labels", kRevisionKey}));
    // Where one can never become ready, others go for it one at a time.
    const bool is_spared =
        std::ranges::any_of(scene_.leaders, [&](const auto& each) { return is_stuck(*each.second); });
    const int spared = is_spared && is_quiet(after) ? 1 : 0;
    if (kept_after + spared < std::min(kept_before, least)) {
      out_.push_back(fmt::format("{} ready groups are kept, of {}; {} are promised", kept_after, kept_before, least));
    }
    const auto most = std::max<std::int64_t>(int_at(before, {"spec", "replicas"}),
                                             scene_.spec.replicas + scene_.spec.rollout.max_surge);
    if (int_at(after, {"spec", "replicas"}) > most) out_.emplace_back("there are more groups than the surge allows");
  }

  const Scene& scene_;
  const runtime::Plan& plan_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> breaches(const LeaderWorkerSetObserved& seen, const runtime::Plan& plan) {
  const Scene scene(seen);
  return Judge(scene, plan).judge();
}

std::vector<std::string> faults_of(const LeaderWorkerSetObserved& seen) {
  std::vector<std::string> out;
  const Scene scene(seen);
  const Json& status = scene.seen.set.json()["status"];
  const Json& conditions = array_at(status, {"conditions"});
  // The condition says so, and what can be done about it.
  for (const std::string_view told : {kAccepted, kGroupsSound}) {
    if (find_condition(conditions, told) != nullptr) return out;
  }
  if (scene.leader_set == nullptr) return {"there is no leader set"};
  const std::string revision = label_of(*scene.leader_set, kRevisionKey);
  if (find_revision(scene.revisions, revision) == nullptr) out.emplace_back("its revision is not there");
  if (static_cast<int>(scene.leaders.size()) != scene.spec.replicas) {
    out.push_back(fmt::format("{} groups instead of {}", scene.leaders.size(), scene.spec.replicas));
  }
  for (const auto& [group, leader] : scene.leaders) {
    if (!scene.is_ready(*leader)) out.push_back(fmt::format("group {} is not ready", group));
    if (group >= scene.spec.rollout.partition && leader->label(kRevisionKey) != revision) {
      out.push_back(fmt::format("group {} is of an old revision", group));
    }
    const bool own_service = scene.spec.group.service_per_group;
    if (own_service && scene.find_service(leader->key.name) == nullptr) {
      out.push_back(fmt::format("group {} has no service", group));
    }
  }
  if (!scene.spec.group.service_per_group && scene.find_service(scene.spec.key.name) == nullptr) {
    out.emplace_back("there is no service");
  }
  if (condition_status(conditions, kAvailable) != "True") out.emplace_back("it is not Available");
  return out;
}

}  // namespace tpuslice::leaderworkerset
