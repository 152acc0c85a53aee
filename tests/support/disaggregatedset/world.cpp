#include "tests/support/disaggregatedset/world.h"

#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/disaggregatedset/disaggregatedset_plan.h"
#include "controllers/disaggregatedset/disaggregatedset_state.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::disaggregatedset {
namespace {

using leaderworkerset::kLeaderWorkerSets;

Json a_role(const RoleShape& shape) {
  Json role = {{"name", shape.name},
               {"spec",
                {{"replicas", shape.replicas},
                 {"leaderWorkerTemplate",
                  {{"size", 1},
                   {"restartPolicy", "RecreateGroupOnPodRestart"},
                   {"workerTemplate",
                    {{"spec", {{"containers", Json::array({{{"name", "main"}, {"image", "serve:1"}}})}}}}}}}}}};
  if (shape.external) role["scaling"] = {{"mode", "External"}};
  return role;
}

std::string image_of(const Json& set) {
  return string_at(set, {"spec", "leaderWorkerTemplate", "workerTemplate", "spec", "containers", "0", "image"});
}

bool is_owned(const Json& object, std::string_view uid) {
  return string_at(object, {"metadata", "ownerReferences", "0", "uid"}) == uid;
}

}  // namespace

Json a_set(const std::vector<RoleShape>& roles) {
  Json set = {
      {"apiVersion", kDisaggregatedSets.api_version()},
      {"kind", kDisaggregatedSets.kind},
      {"metadata",
       {{"name", "llm"}, {"namespace", "default"}, {"uid", "uid-of-llm"}, {"resourceVersion", "1"}, {"generation", 1}}},
      {"spec", {{"slices", 1}, {"roles", Json::array()}}}};
  for (const RoleShape& role : roles) set["spec"]["roles"].push_back(a_role(role));
  return set;
}

World::World(Json set)
    : PlanWorld(kDisaggregatedSets, std::move(set), Timestamp(std::chrono::seconds(1'800'000'000))) {}

DisaggregatedSetObserved World::observed() const {
  DisaggregatedSetObserved seen;
  seen.set = object();
  const ChildNames names = child_names(seen.set.spec());
  const auto collect = [&](const auto& views, const std::vector<ObjectKey>& keys, auto& out) {
    for (const auto& view : views) {
      const bool owned = view->controller && view->controller->uid == object().uid();
      if (owned || std::ranges::find(keys, view->key) != keys.end()) out.push_back(view);
    }
  };
  collect(views<ObjectView>(kLeaderWorkerSets), names.leader_worker_sets, seen.leader_worker_sets);
  collect(views<ObjectView>(kRoleScalers), names.scalers, seen.scalers);
  collect(views<ServiceView>(kServices), names.services, seen.services);
  seen.now = now_;
  seen.last_failure = last_failure();
  return seen;
}

plan::Plan World::plan() const { return plan_disaggregatedset(observed()); }

void World::prepare(const ResourceType& type, Json& created) {
  created["metadata"]["creationTimestamp"] = format_rfc3339(now_);
  created["metadata"]["generation"] = 1;
  if (type == kLeaderWorkerSets) created["status"] = Json::object();
}

void World::applied(const plan::Action& action, const Json& before) {
  if (before.is_null() || action.kind != plan::ActionKind::kPatch || !action.subresource.empty()) return;
  const auto found = objects(action.type).find(action.key.name);
  if (found == objects(action.type).end() || found->second["spec"] == before["spec"]) return;
  found->second["metadata"]["generation"] = int_at(before, {"metadata", "generation"}) + 1;
}

void World::run_set(Json& set, const std::function<bool()>& chance) {
  const Json before = set["status"];
  const std::int64_t replicas = int_at(set, {"spec", "replicas"}, 1);
  const bool broken = !broken_.empty() && image_of(set) == broken_;
  Json& status = set["status"];
  if (chance()) {
    status["replicas"] = replicas;
    status["updatedReplicas"] = replicas;
  }
  std::int64_t ready = std::min(int_at(status, {"readyReplicas"}), replicas);
  if (!broken && chance()) ready = replicas;
  status["readyReplicas"] = broken ? 0 : ready;
  Json conditions = array_at(status, {"conditions"});
  set_condition(conditions, {std::string(plan::kSlicesPlaced), "True", "SlicesPlaced", "", {}}, now_);
  const bool started = int_at(status, {"readyReplicas"}) == replicas;
  set_condition(conditions,
                {std::string(plan::kContainersStarted),
                 started ? "True" : "False",
                 started ? "ContainersStarted" : "ContainersPending",
                 "",
                 {}},
                now_);
  status["conditions"] = std::move(conditions);
  if (status != before) touch(set);
}

void World::advance(const std::function<bool()>& chance) {
  now_ += std::chrono::seconds(10);
  for (const ResourceType& type : {kLeaderWorkerSets, kRoleScalers, kServices}) {
    std::erase_if(objects(type), [&](const auto& entry) {
      const bool ends =
          entry.second["metadata"].contains("deletionTimestamp") || !is_owned(entry.second, object().uid());
      return ends && chance();
    });
  }
  for (auto& [name, set] : sets()) run_set(set, chance);
}

void World::advance() {
  advance([] { return true; });
}

void World::change_set(const std::string& pointer, Json value) {
  set()[Json::json_pointer(pointer)] = std::move(value);
  set()["metadata"]["generation"] = object().generation() + 1;
  touch(set());
}

void World::use_image(const std::string& image) {
  for (Json& role : set()["spec"]["roles"]) {
    role["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = image;
  }
  set()["metadata"]["generation"] = object().generation() + 1;
  touch(set());
}

void World::scale(const std::string& role, int replicas) {
  const Json& roles = set()["spec"]["roles"];
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i]["name"] == role) change_set(fmt::format("/spec/roles/{}/spec/replicas", i), replicas);
  }
}

void World::scale_external(const std::string& role, int replicas) {
  Json& scaler = scalers().at("llm-" + role);
  scaler["spec"]["replicas"] = replicas;
  scaler["metadata"]["generation"] = int_at(scaler, {"metadata", "generation"}) + 1;
  touch(scaler);
}

std::string World::revision() const { return compute_revision(DisaggregatedSetSpec::read(object())); }

std::string World::name_of(const std::string& role, int slice) const {
  return set_name("llm", slice, revision(), role);
}

std::string World::condition(std::string_view type) const {
  const Json now = status();
  const Json* found = find_condition(array_at(now, {"conditions"}), type);
  return found == nullptr ? "" : string_at(*found, {"status"}) + ": " + string_at(*found, {"reason"});
}

std::string World::message(std::string_view type) const {
  const Json now = status();
  const Json* found = find_condition(array_at(now, {"conditions"}), type);
  return found == nullptr ? "" : string_at(*found, {"message"});
}

std::string picture(const World& world) {
  std::string out;
  for (const auto& [name, set] : world.sets()) {
    const bool is_new = string_at(set, {"metadata", "labels", kRevision}) == world.revision();
    out += fmt::format("{}{} {} {} {}", out.empty() ? "" : ", ", string_at(set, {"metadata", "labels", kSlice}),
                       string_at(set, {"metadata", "labels", kRole}), int_at(set, {"spec", "replicas"}),
                       is_new ? "new" : "old");
  }
  return out;
}

}  // namespace tpuslice::disaggregatedset
