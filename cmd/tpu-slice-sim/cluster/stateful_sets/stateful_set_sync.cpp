#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_sync.h"

#include <algorithm>
#include <set>

#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_revisions.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

std::string name_of(const Json& object) { return string_at(object, {"metadata", "name"}); }

}  // namespace

StatefulSetSync::StatefulSetSync(Registry& registry, const JsonPtr& set, StatefulSetMembers members)
    : registry_(registry),
      now_(registry.clock().wall()),
      set_(*set),
      name_(name_of(set_)),
      ordered_(string_at(set_, {"spec", "podManagementPolicy"}) != "Parallel"),
      members_(std::move(members)) {
  outcome_.wrote = members_.wrote;
  outcome_.failed = members_.failed;
  sort_revisions(members_.revisions);
}

StatefulSetOutcome StatefulSetSync::run() {
  if (outcome_.failed || !find_revisions()) return outcome_;
  place_pods();
  status_ = {{"currentRevision", name_of(*current_)},
             {"updateRevision", name_of(*update_)},
             {"collisionCount", collisions_},
             {"observedGeneration", int_at(set_, {"metadata", "generation"})}};
  count(members_.pods);
  if (!terminating(set_)) manage();
  write_status();
  truncate_history();
  if (!outcome_.failed) set_requeue_after();
  return outcome_;
}

bool StatefulSetSync::find_revisions() {
  collisions_ = int_at(set_, {"status", "collisionCount"});
  update_ = update_revision();
  if (update_ == nullptr) {
    outcome_.failed = true;
    return false;
  }
  current_ = update_;
  const std::string known = string_at(set_, {"status", "currentRevision"});
  for (const JsonPtr& revision : members_.revisions) {
    if (name_of(*revision) == known) current_ = revision;
  }
  return true;
}

/// The revision of the current template: the newest one, or an older equal one with a new number, or a new one.
JsonPtr StatefulSetSync::update_revision() {
  const std::vector<JsonPtr>& all = members_.revisions;
  const Json data = revision_data(set_);
  const std::int64_t next = all.empty() ? 1 : int_at(*all.back(), {"revision"}) + 1;
  const auto equal =
      std::find_if(all.rbegin(), all.rend(), [&data](const JsonPtr& each) { return same_data(*each, data); });
  if (equal == all.rend()) return create_revision(next);
  if (equal == all.rbegin()) return *equal;
  const auto written = registry_.modify(
      *registry_.resources().find_id(kControllerRevisions), Object(**equal).key(), {},
      [next](Json& json) -> Status {
        json["revision"] = next;
        return {};
      },
      as_controller("statefulset-controller"));
  if (!written) return nullptr;
  outcome_.wrote = true;
  return std::make_shared<const Json>(written->json());
}

JsonPtr StatefulSetSync::create_revision(std::int64_t number) {
  Json revision = make_revision(set_, number, collisions_);
  const Resource& resource = *registry_.resources().find_id(kControllerRevisions);
  for (;;) {
    const auto created = registry_.create(resource, Object(revision), as_controller("statefulset-controller"));
    if (created) {
      outcome_.wrote = true;
      return std::make_shared<const Json>(created->json());
    }
    if (created.error().code() != ErrorCode::kAlreadyExists) return nullptr;
    JsonPtr other = registry_.storage().get(kControllerRevisions, Object(revision).key());
    if (other != nullptr && same_data(*other, revision["data"])) return other;
    ++collisions_;
    // The label keeps the first hash, as upstream.
    revision["metadata"]["name"] = revision_name(set_, revision_hash(revision["data"], collisions_));
  }
}

/// Deletes unused revisions beyond spec.revisionHistoryLimit.
void StatefulSetSync::truncate_history() {
  std::set<std::string> live = {name_of(*current_), name_of(*update_)};
  for (const JsonPtr& pod : members_.pods) live.insert(pod_revision(*pod));
  std::vector<JsonPtr> old;
  for (const JsonPtr& revision : members_.revisions) {
    if (live.count(name_of(*revision)) == 0) old.push_back(revision);
  }
  const std::int64_t limit = int_at(set_, {"spec", "revisionHistoryLimit"}, 10);
  const std::int64_t surplus = static_cast<std::int64_t>(old.size()) - limit;
  if (limit < 0) return;
  for (std::int64_t i = 0; i < surplus; ++i) {
    DeleteOptions options;
    options.write = as_controller("statefulset-controller");
    const Object revision(*old[static_cast<std::size_t>(i)]);
    if (registry_.remove(*registry_.resources().find_id(kControllerRevisions), revision.key(), options)) {
      outcome_.wrote = true;
    } else {
      outcome_.failed = true;
      return;
    }
  }
}

void StatefulSetSync::count(const std::vector<JsonPtr>& pods) {
  const auto add = [this](const char* counter, bool counts) {
    status_[counter] = int_at(status_, {counter}) + (counts ? 1 : 0);
  };
  for (const char* counter : {"replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"}) {
    status_[counter] = 0;
  }
  for (const JsonPtr& pod : pods) {
    const bool ready = running_and_ready(*pod);
    const bool lives = pod_created(*pod) && !terminating(*pod);
    add("replicas", pod_created(*pod));
    add("readyReplicas", ready);
    add("availableReplicas", ready && pod_available(set_, *pod, now_));
    add("currentReplicas", lives && pod_revision(*pod) == name_of(*current_));
    add("updatedReplicas", lives && pod_revision(*pod) == name_of(*update_));
  }
}

void StatefulSetSync::write_status() {
  const std::int64_t wanted = desired_replicas(set_);
  const bool rolling = string_at(set_, {"spec", "updateStrategy", "type"}) == "RollingUpdate";
  if (rolling && status_["updatedReplicas"] == wanted && status_["readyReplicas"] == wanted &&
      status_["replicas"] == wanted) {
    status_["currentReplicas"] = status_["updatedReplicas"];
    status_["currentRevision"] = status_["updateRevision"];
  }
  bool same = int_at(status_, {"observedGeneration"}) <= int_at(set_, {"status", "observedGeneration"});
  for (const char* counter : {"replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"}) {
    same = same && int_at(status_, {counter}) == int_at(set_, {"status", counter});
  }
  for (const char* revision : {"currentRevision", "updateRevision"}) {
    same = same && string_at(status_, {revision}) == string_at(set_, {"status", revision});
  }
  if (same) return;
  // Empty fields are omitted.
  for (const char* counter : {"readyReplicas", "currentReplicas", "updatedReplicas"}) {
    if (int_at(status_, {counter}) == 0) status_.erase(counter);
  }
  const std::string uid = string_at(set_, {"metadata", "uid"});
  const auto written = registry_.modify(
      *registry_.resources().find_id(kStatefulSets), Object(set_).key(), "status",
      [&](Json& json) -> Status {
        if (string_at(json, {"metadata", "uid"}) != uid) return Error::not_found("{} does not exist", uid);
        json["status"] = status_;
        return {};
      },
      as_controller("statefulset-controller"));
  if (written) {
    outcome_.wrote = true;
  } else {
    outcome_.failed = true;
  }
}

void StatefulSetSync::set_requeue_after() {
  const std::int64_t seconds = int_at(set_, {"spec", "minReadySeconds"});
  if (seconds == 0 || int_at(status_, {"readyReplicas"}) == int_at(status_, {"availableReplicas"})) return;
  Duration next = std::chrono::seconds(seconds);
  for (const JsonPtr& pod : members_.pods) next = std::min(next, until_available(set_, *pod, now_).value_or(next));
  outcome_.requeue_after = next;
}

}  // namespace tpuslice::sim
