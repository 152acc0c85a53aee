#include "tests/laws/leaderworkerset_generator.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr const char* kPool = "cloud.google.com/gke-nodepool";
constexpr const char* kImage = "/workerTemplate/spec/containers/0/image";

}  // namespace

Json LeaderWorkerSetGenerator::random_rollout(int replicas) {
  const int surge = chance(50) ? 0 : below(3);
  const int unavailable = surge == 0 ? 1 + below(2) : below(3);
  return {{"maxUnavailable", unavailable},
          {"maxSurge", surge},
          {"partition", chance(70) || replicas == 0 ? 0 : below(replicas)}};
}

World LeaderWorkerSetGenerator::world() {
  SetBuilder set = a_set("serve");
  const int replicas = below(5);
  // With TPUs, the number of hosts usually fits the topology.
  const bool has_leader_template = chance(40);
  const bool has_tpus = chance(30);
  const int size = has_tpus && chance(90) ? (has_leader_template ? 5 : 4) : 1 + below(4);
  set.replicas(replicas).size(size);
  if (has_leader_template) set.leader();
  if (has_tpus) set.tpu("tpu-v6e-slice", "4x4");
  if (!has_tpus && size > 2 && size % 2 == 1 && chance(30)) set.subgroups(2, chance(50));
  set.set("/spec/rolloutStrategy",
          {{"type", "RollingUpdate"}, {"rollingUpdateConfiguration", random_rollout(replicas)}});
  if (chance(30)) set.set("/spec/startupPolicy", "LeaderReady");
  if (chance(40)) set.of_template("/restartPolicy", chance(50) ? "None" : "RecreateGroupAfterStart");
  if (chance(30)) set.set("/spec/networkConfig", {{"subdomainPolicy", "UniquePerReplica"}});
  if (chance(30)) set.annotation(std::string(kExclusiveTopology), kPool);
  if (chance(30)) set.annotation(std::string(kMaxRestarts), std::to_string(below(3)));
  const Json& built = set.json();
  const bool restarts = string_at(built, {"spec", "leaderWorkerTemplate", "restartPolicy"}) != "None";
  const bool limited = built["metadata"].value("annotations", Json::object()).contains(kMaxRestarts);
  if (restarts && !limited && chance(20)) set.of_template("/maxGroupRestarts", below(3));
  return World(set.json());
}

void LeaderWorkerSetGenerator::edit(World& world) {
  SetBuilder set = a_set("serve");
  Json edited = world.set();
  const auto of_template = [&](const std::string& pointer, Json value) {
    edited["spec"]["leaderWorkerTemplate"][Json::json_pointer(pointer)] = std::move(value);
  };
  const int kind = below(100);
  if (kind < 45) {
    of_template(kImage, fmt::format("worker:{}", 1 + below(4)));
  } else if (kind < 75) {
    edited["spec"]["replicas"] = below(6);
  } else if (kind < 90) {
    const int replicas = static_cast<int>(int_at(edited, {"spec", "replicas"}, 1));
    edited["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"] = random_rollout(replicas);
  } else {
    of_template("/size", 1 + below(4));
  }
  if (!rules::validate_leaderworkerset(edited, &world.set()).empty()) return;
  edited["metadata"]["generation"] = int_at(edited, {"metadata", "generation"}) + 1;
  world.set() = std::move(edited);
}

Json* LeaderWorkerSetGenerator::any_of(World::Objects& objects) {
  if (objects.empty()) return nullptr;
  return &std::next(objects.begin(), below(static_cast<int>(objects.size())))->second;
}

void LeaderWorkerSetGenerator::inject_pod_fault(World& world) {
  Json* pod = any_of(world.pods());
  if (pod == nullptr) return;
  const int kind = below(100);
  if (kind < 30) {
    (*pod)["status"]["phase"] = "Failed";
    (*pod)["status"]["reason"] = "Evicted";
    (*pod)["status"].erase("conditions");
  } else if (kind < 60) {
    (*pod)["status"]["containerStatuses"] = Json::array({{{"name", "worker"}, {"restartCount", 1}}});
  } else if (kind < 75) {
    (*pod)["metadata"]["deletionTimestamp"] = format_rfc3339(world.now());
  } else if (kind < 90) {
    world.pods().erase(string_at(*pod, {"metadata", "name"}));
  } else {
    (*pod)["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", "False"}}});
  }
}

void LeaderWorkerSetGenerator::inject_child_fault(World& world) {
  Json* set = any_of(world.stateful_sets());
  Json* service = any_of(world.services());
  const int kind = below(100);
  if (kind < 20 && set != nullptr) {
    (*set)["spec"]["replicas"] = below(6);
  } else if (kind < 35 && set != nullptr) {
    (*set)["metadata"]["labels"][std::string(kLwsName)] = "stray";
  } else if (kind < 45 && set != nullptr) {
    world.stateful_sets().erase(string_at(*set, {"metadata", "name"}));
  } else if (kind < 55 && set != nullptr && string_at(*set, {"metadata", "name"}) != world.name()) {
    (*set)["metadata"]["ownerReferences"][0] = {{"apiVersion", "apps/v1"},
                                                {"kind", "Deployment"},
                                                {"name", "another-owner"},
                                                {"uid", "uid-of-another-owner"},
                                                {"controller", true}};
  } else if (kind < 65 && service != nullptr) {
    (*service)["spec"]["selector"]["stray"] = "x";
  } else if (kind < 75 && service != nullptr) {
    world.services().erase(string_at(*service, {"metadata", "name"}));
  } else if (kind < 80) {
    if (Json* revision = any_of(world.revisions())) {
      world.revisions().erase(string_at(*revision, {"metadata", "name"}));
    }
  } else if (kind < 85) {
    repeat_revision(world);
  } else if (kind < 92 && set != nullptr && string_at(*set, {"metadata", "name"}) == world.name()) {
    (*set)["spec"]["template"]["spec"]["containers"][0]["image"] = "foreign";
  } else if (const auto leaders = world.stateful_sets().find(world.name()); leaders != world.stateful_sets().end()) {
    leaders->second["metadata"]["annotations"][std::string(kRestarts)] = chance(50) ? "not JSON" : "{\"0\":{}}";
  }
}

void LeaderWorkerSetGenerator::repeat_revision(World& world) {
  const Json* revision = any_of(world.revisions());
  if (revision == nullptr) return;
  Json copy = *revision;
  const std::string name = string_at(copy, {"metadata", "name"}) + "-copy";
  copy["metadata"]["name"] = name;
  copy["metadata"]["uid"] = "uid-" + name;
  copy["metadata"]["labels"][std::string(kRevisionKey)] = name;
  copy["revision"] = int_at(copy, {"revision"}) + below(3);
  world.revisions()[name] = std::move(copy);
}

void LeaderWorkerSetGenerator::inject_fault(World& world) {
  if (chance(60)) {
    inject_pod_fault(world);
  } else {
    inject_child_fault(world);
  }
}

void LeaderWorkerSetGenerator::step(World& world) {
  world.advance([this] { return chance(70); });
  world.now() += std::chrono::seconds(below(20));
}

}  // namespace tpuslice::leaderworkerset
