#include "tests/unit/controllers/leaderworkerset/world.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/services.h"
#include "controllers/leaderworkerset/worker_set.h"

namespace tpuslice::leaderworkerset {

World::World(SetBuilder builder) {
  observed_.set = builder.object();
  observed_.now = kToday;
  const LeaderWorkerSetSpec spec = this->spec();
  const Json revision = build_revision(spec, revision_data(observed_.set.json()), 1);
  key_ = Revision::read(Object(revision)).key;
  observed_.revisions = {stored(revision, "uid-of-revision")};
  Json leaders = build_leader_set(spec, {key_, spec.replicas, spec.rollout.partition});
  leaders["status"] = {{"replicas", spec.replicas}, {"observedGeneration", 1}};
  leaders["metadata"]["generation"] = 1;
  observed_.stateful_sets = {stored<StatefulSetView>(leaders, "uid-of-leaders")};
  Json service = build_shared_service(spec);
  service["metadata"]["uid"] = "uid-of-service";
  observed_.services = {std::make_shared<const ServiceView>(ServiceView::from_json(service).value())};
  for (int group = 0; group < spec.replicas; ++group) add_group(group, key_);
}

plan::Plan World::plan() {
  plan::Plan plan = plan_leaderworkerset(observed_).value();
  if (plan.status) {
    Json set = observed_.set.json();
    set["status"] = plan.status->status;
    observed_.set = Object(std::move(set));
  }
  return plan;
}

void World::change_pod(const std::string& name, const std::function<void(PodView&)>& change) {
  for (PodPtr& pod : observed_.pods) {
    if (pod->key.name != name) continue;
    PodView view = *pod;
    change(view);
    pod = std::make_shared<const PodView>(std::move(view));
  }
}

void World::change_set(const std::string& pointer, Json value) {
  Json set = observed_.set.json();
  set[Json::json_pointer(pointer)] = std::move(value);
  observed_.set = Object(std::move(set));
}

void World::change_leader_set(const std::function<void(StatefulSetView&)>& change) {
  StatefulSetView view = *observed_.stateful_sets.front();
  change(view);
  observed_.stateful_sets.front() = std::make_shared<const StatefulSetView>(std::move(view));
}

void World::drop_stateful_set(const std::string& name) {
  std::erase_if(observed_.stateful_sets, [&](const StatefulSetPtr& set) { return set->key.name == name; });
}

std::string World::add_update(const std::string& image) {
  change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", image);
  const Json revision = build_revision(spec(), revision_data(observed_.set.json()),
                                       static_cast<std::int64_t>(observed_.revisions.size()) + 1);
  observed_.revisions.push_back(stored(revision, "uid-of-revision-" + image));
  return Revision::read(Object(revision)).key;
}

void World::add_group(int index, const std::string& key) {
  const LeaderWorkerSetSpec spec = this->spec();
  const std::string name = group_name(spec, index);
  PodView leader = pod(name, key, "uid-of-leaders", spec.key.name);
  Json set = build_worker_set(spec, spec.group, Leader::read(spec, leader, index, spec.group));
  observed_.pods.push_back(std::make_shared<const PodView>(std::move(leader)));
  set["status"] = {{"availableReplicas", spec.group.workers()}};
  observed_.stateful_sets.push_back(stored<StatefulSetView>(set, "uid-of-set-" + name));
  for (int i = 1; i < spec.group.size; ++i) {
    observed_.pods.push_back(
        std::make_shared<const PodView>(pod(fmt::format("{}-{}", name, i), key, "uid-of-set-" + name, name)));
  }
}

void World::record_members() {
  const std::vector<Group> groups =
      read_groups(spec(), observed_, observed_.stateful_sets.front().get(), {}, spec().replicas);
  for (StatefulSetPtr& set : observed_.stateful_sets) {
    for (const Group& group : groups) {
      if (group.worker_set != set) continue;
      StatefulSetView view = *set;
      view.annotations[std::string(kMembers)] = members_hash(group);
      set = std::make_shared<const StatefulSetView>(std::move(view));
    }
  }
}

PodView World::pod(const std::string& name, const std::string& key, const std::string& owner_uid,
                   const std::string& owner) const {
  PodView view;
  view.key = {"default", name};
  view.uid = "uid-of-" + name;
  view.labels = {{std::string(kRevisionKey), key}, {std::string(kLwsName), "serve"}};
  view.controller = ControllerRef{"apps/v1", "StatefulSet", owner, owner_uid};
  view.phase = PodPhase::kRunning;
  view.ready = true;
  return view;
}

World world() { return World(a_set("serve").replicas(2).size(2)); }

World stable_world() {
  World out = world();
  static_cast<void>(out.plan());
  out.record_members();
  return out;
}

}  // namespace tpuslice::leaderworkerset
