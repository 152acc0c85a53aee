#include "tests/support/leaderworkerset/world.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/rollout/revisions.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using plan::Action;
using plan::uid_of;

constexpr const char* kNode = "node-a";

std::string owner_of(const Json& object) { return string_at(object, {"metadata", "ownerReferences", "0", "uid"}); }
bool is_terminating(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }
bool is_failed(const Json& pod) { return string_at(pod, {"status", "phase"}) == "Failed"; }
std::string revision_of(const Json& object) { return string_at(object, {"metadata", "labels", kRevisionKey}); }

bool is_ready(const Json& pod) {
  return !is_terminating(pod) && string_at(pod, {"status", "conditions", "0", "status"}) == "True";
}

bool has_uid(const World::Objects& objects, const std::string& uid) {
  return std::ranges::any_of(objects, [&](const auto& entry) { return uid_of(entry.second) == uid; });
}

std::vector<std::string> names_in(const World::Objects& objects) {
  std::vector<std::string> names;
  for (const auto& [name, object] : objects) names.push_back(name);
  return names;
}

int first_ordinal(const Json& stateful_set) {
  return static_cast<int>(int_at(stateful_set, {"spec", "ordinals", "start"}));
}

}  // namespace

World::World(Json set) : PlanWorld(kLeaderWorkerSets, std::move(set), Timestamp(std::chrono::seconds(1'800'000'000))) {}

LeaderWorkerSetObserved World::observed() const {
  LeaderWorkerSetObserved out;
  out.set = object();
  out.stateful_sets = views<StatefulSetView>(kStatefulSets);
  out.pods = views<PodView>(kPods);
  out.revisions = views<ObjectView>(kControllerRevisions);
  out.services = views<ServiceView>(kServices);
  NodeView node;
  node.key = {"", kNode};
  node.labels = {{"cloud.google.com/gke-nodepool", "pool-a"}};
  out.nodes = {std::make_shared<const NodeView>(node)};
  out.now = now_;
  out.last_failure = last_failure_;
  return out;
}

plan::Plan World::plan() const { return plan_leaderworkerset(observed()); }

void World::prepare(const ResourceType& /*type*/, Json& created) { created["metadata"]["generation"] = 1; }

bool World::terminates(const ResourceType& type) const { return type == kPods || type == kStatefulSets; }

void World::applied(const Action& action, const Json& before) {
  if (action.kind != plan::ActionKind::kPatch || action.type == kLeaderWorkerSets) return;
  Json& live = objects(action.type).at(action.key.name);
  if (live.value("spec", Json()) == before.value("spec", Json())) return;
  live["metadata"]["generation"] = int_at(live, {"metadata", "generation"}) + 1;
  if (action.type != kStatefulSets || action.key.name != name()) return;
  const bool template_changed = live["spec"]["template"] != before["spec"]["template"];
  if (template_changed && old_template_.is_null()) old_template_ = before["spec"]["template"];
}

void World::run_stateful_set(Json& stateful_set, const std::function<bool()>& chance) {
  const std::string set_name = string_at(stateful_set, {"metadata", "name"});
  const int first = first_ordinal(stateful_set);
  const int end = first + static_cast<int>(int_at(stateful_set, {"spec", "replicas"}, 1));
  const auto partition = int_at(stateful_set, {"spec", "updateStrategy", "rollingUpdate", "partition"});
  const bool is_leader_set = set_name == name();
  if (is_leader_set) stateful_set["status"]["observedGeneration"] = stateful_set["metadata"]["generation"];
  for (int i = first; i < end; ++i) {
    const std::string pod_name = fmt::format("{}-{}", set_name, i);
    if (pods().contains(pod_name) || !chance()) continue;
    const bool old = is_leader_set && i < partition && !old_template_.is_null();
    Json pod = old ? old_template_ : stateful_set["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = pod_name;
    pod["metadata"]["namespace"] = "default";
    pod["metadata"]["creationTimestamp"] = format_rfc3339(now_);
    pod["metadata"]["ownerReferences"] = Json::array({Object(stateful_set).as_controller().to_json()});
    pod["spec"]["nodeName"] = kNode;
    pod["status"]["phase"] = "Pending";
    add(kPods, std::move(pod));
  }
  // Failed pods, and those beyond the replicas.
  for (auto& [pod_name, pod] : pods()) {
    if (owner_of(pod) != uid_of(stateful_set) || is_terminating(pod)) continue;
    const int ordinal = std::stoi(pod_name.substr(pod_name.rfind('-') + 1));
    if ((is_failed(pod) || ordinal >= end) && chance()) pod["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
  }
}

void World::collect_garbage(const std::function<bool()>& chance) {
  for (const std::string& each : names_in(stateful_sets())) {
    const Json& object = stateful_sets()[each];
    const std::string owner = owner_of(object);
    const bool owned_by_pod = string_at(object, {"metadata", "ownerReferences", "0", "kind"}) == "Pod";
    const auto leader = std::ranges::find_if(pods(), [&](const auto& pod) { return uid_of(pod.second) == owner; });
    const bool leader_deleted = leader == pods().end() || leader->second["metadata"].contains("finalizers");
    const bool empty =
        std::ranges::none_of(pods(), [&](const auto& pod) { return owner_of(pod.second) == uid_of(object); });
    const bool deleted = is_terminating(object) ? empty : owned_by_pod && leader_deleted;
    if (deleted && chance()) stateful_sets().erase(each);
  }
  for (const std::string& each : names_in(services())) {
    const bool owned_by_pod = string_at(services()[each], {"metadata", "ownerReferences", "0", "kind"}) == "Pod";
    if (owned_by_pod && !has_uid(pods(), owner_of(services()[each])) && chance()) services().erase(each);
  }
  for (const std::string& each : names_in(pods())) {
    Json& pod = pods()[each];
    const auto set =
        std::ranges::find_if(stateful_sets(), [&](const auto& it) { return uid_of(it.second) == owner_of(pod); });
    if (set == stateful_sets().end()) {
      if (chance()) pods().erase(each);
    } else if (is_terminating(set->second) && !is_terminating(pod) && chance()) {
      pod["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
    }
  }
}

void World::run_pods(const std::function<bool()>& chance) {
  for (const std::string& each : names_in(pods())) {
    Json& pod = pods()[each];
    if (is_terminating(pod)) {
      const bool blocked =
          pod["metadata"].contains("finalizers") &&
          std::ranges::any_of(stateful_sets(), [&](const auto& set) { return owner_of(set.second) == uid_of(pod); });
      if (!blocked && chance()) pods().erase(each);
    } else if (!is_failed(pod) && chance()) {
      if (string_at(pod, {"status", "phase"}) == "Pending") {
        pod["status"]["phase"] = "Running";
      } else {
        pod["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
      }
    }
  }
}

void World::count_pods() {
  for (auto& [each, stateful_set] : stateful_sets()) {
    int all = 0;
    int available = 0;
    bool updated = true;
    for (const auto& [pod_name, pod] : pods()) {
      if (owner_of(pod) != uid_of(stateful_set)) continue;
      ++all;
      available += is_ready(pod) ? 1 : 0;
      updated = updated && revision_of(pod) == revision_of(stateful_set);
    }
    stateful_set["status"]["replicas"] = all;
    stateful_set["status"]["availableReplicas"] = available;
    if (each == name() && updated) old_template_ = nullptr;
  }
}

void World::advance(const std::function<bool()>& chance) {
  collect_garbage(chance);
  for (auto& [each, stateful_set] : stateful_sets()) {
    const bool has_owner = each == name() || has_uid(pods(), owner_of(stateful_set));
    if (has_owner && !is_terminating(stateful_set)) run_stateful_set(stateful_set, chance);
  }
  run_pods(chance);
  count_pods();
}

void World::advance() {
  for (const std::string& each : names_in(stateful_sets())) {
    if (owner_of(stateful_sets()[each]) == "uid-of-another-owner") stateful_sets().erase(each);
  }
  for (const std::string& each : names_in(services())) {
    if (owner_of(services()[each]) == "uid-of-another-owner") services().erase(each);
  }
  for (int i = 0; i < 4; ++i) advance([] { return true; });
  now_ += 1s;
}

std::string World::add_update(const std::string& image) {
  change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", image);
  const auto number = static_cast<std::int64_t>(revisions().size()) + 1;
  return Revision::read(Object(add(kControllerRevisions, build_revision(spec(), revision_data(set()), number)))).key;
}

void World::set_ready(const std::string& pod, bool ready) {
  pods().at(pod)["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", ready ? "True" : "False"}}});
}

void World::restart_container(const std::string& pod) {
  pods().at(pod)["status"]["containerStatuses"] = Json::array({{{"name", "worker"}, {"restartCount", 1}}});
}

void World::terminate_pod(const std::string& pod) {
  pods().at(pod)["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
}

std::string World::describe() const {
  Json asked = set()["spec"];
  asked.erase("leaderWorkerTemplate");
  std::string out = fmt::format("{} of {} pods: {}\n", name(),
                                int_at(set(), {"spec", "leaderWorkerTemplate", "size"}, 1), asked.dump());
  for (const auto& [each, stateful_set] : stateful_sets()) {
    Json spec = stateful_set["spec"];
    spec.erase("template");
    out += fmt::format(
        "set {} of {} ({}): {} {} {}\n", each, owner_of(stateful_set), revision_of(stateful_set),
        stateful_set["metadata"].value("annotations", Json()).dump(),
        Json({{"replicas", spec["replicas"]}, {"updateStrategy", spec.value("updateStrategy", Json())}}).dump(),
        stateful_set.value("status", Json()).dump());
  }
  for (const auto& [each, pod] : pods()) {
    out += fmt::format("pod {} of {} ({}): {}{}\n", each, owner_of(pod), revision_of(pod), pod["status"].dump(),
                       is_terminating(pod) ? " terminating" : "");
  }
  return out;
}

World stable_world(const SetBuilder& set) {
  World world(set.json());
  world.settle();
  return world;
}

}  // namespace tpuslice::leaderworkerset
