#include "tests/laws/raycluster_generator.h"

#include <array>
#include <utility>

#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::array kPhases{"Pending", "Running", "Running", "Running", "Failed", "Succeeded", "Unknown"};

Json& groups_of(World& world) { return world.cluster().mutable_json()["spec"]["workerGroupSpecs"]; }

}  // namespace

Json Generator::random_group(int number) {
  static const std::vector<GroupFixture> kShapes{
      {.hosts = 4, .accelerator = "tpu-v6e-slice", .topology = "4x4"},
      {.hosts = 2, .accelerator = "tpu-v4-podslice", .topology = "2x2x2"},
      {.hosts = 1, .accelerator = "tpu-v6e-slice", .topology = "2x2"},
      {.hosts = 1, .accelerator = ""},
      {.hosts = 3, .accelerator = ""},
  };
  GroupFixture shape = kShapes[static_cast<std::size_t>(below(static_cast<int>(kShapes.size())))];
  shape.name = fmt::format("group-{}", number);
  shape.replicas = below(4);
  Json group = a_group(shape);
  if (chance(20)) group["maxReplicas"] = below(3);
  if (chance(10)) group["minReplicas"] = std::min(1, group["maxReplicas"].get<int>());
  if (chance(10)) group["template"]["spec"]["restartPolicy"] = "Never";
  return group;
}

Json Generator::random_cluster() {
  Json cluster = a_cluster(chance(20) ? std::string(53, 'c') : "train", {});
  const int groups = below(4);
  for (int i = 0; i < groups; ++i) cluster["spec"]["workerGroupSpecs"].push_back(random_group(i));
  if (chance(15)) cluster["spec"]["suspend"] = true;
  if (chance(30)) {
    cluster["spec"]["enableInTreeAutoscaling"] = true;
    if (chance(60)) cluster["spec"]["autoscalerOptions"]["version"] = chance(50) ? "v1" : "v2";
  }
  if (chance(15)) cluster["spec"]["headGroupSpec"]["enableIngress"] = true;
  if (chance(20)) cluster["metadata"]["annotations"]["ray.io/enable-serve-service"] = "true";
  if (chance(25)) {
    cluster["metadata"]["annotations"]["tpuslice.dev/upgrade"] = "rolling";
  } else if (chance(25)) {
    cluster["spec"]["upgradeStrategy"]["type"] = "Recreate";
  }
  if (chance(30)) cluster["spec"]["gcsFaultToleranceOptions"]["redisAddress"] = "redis:6379";
  if (chance(20)) {
    cluster["spec"]["rayVersion"] = "2.55.0";
    cluster["spec"]["authOptions"]["mode"] = "token";
  }
  if (chance(10)) {
    const char* type = chance(50) ? "RayClusterSuspending" : "RayClusterSuspended";
    cluster["status"]["conditions"] = Json::array({{{"type", type},
                                                    {"status", "True"},
                                                    {"reason", type},
                                                    {"message", ""},
                                                    {"lastTransitionTime", "2025-12-31T00:00:00Z"}}});
  }
  return cluster;
}

/// A pod after something has happened to it.
Json Generator::distort(Json pod) {
  Json& metadata = pod["metadata"];
  metadata["creationTimestamp"] = "2025-12-31T00:00:00Z";
  const std::string phase = chance(75) ? "Running" : kPhases.at(static_cast<std::size_t>(below(kPhases.size())));
  pod["status"] = {{"phase", phase}};
  if (phase != "Pending") pod["spec"].erase("schedulingGates");
  if (phase == "Failed" && chance(50)) pod["status"]["reason"] = "Evicted";
  if (phase == "Running" && chance(10)) {
    pod["status"]["containerStatuses"] =
        Json::array({{{"name", "ray-worker"}, {"state", {{"terminated", {{"reason", "Error"}}}}}}});
  }
  if (chance(8)) metadata["deletionTimestamp"] = "2025-12-31T01:00:00Z";
  if (chance(2)) metadata["labels"].erase("ray.io/worker-group-replica-index");
  if (chance(2)) metadata["labels"].erase("ray.io/replica-host-index");
  if (chance(2)) metadata["labels"]["ray.io/replica-host-index"] = std::to_string(below(9));
  if (chance(2)) metadata["labels"]["ray.io/worker-group-replica-index"] = chance(50) ? "x" : "07";
  if (chance(2)) metadata["labels"]["ray.io/group"] = "unknown";
  if (chance(2)) metadata["annotations"]["tpuslice.dev/slice-hosts"] = std::to_string(1 + below(8));
  if (chance(2)) {  // Not with our name, which ends in a hash of our UID.
    metadata["ownerReferences"][0]["uid"] = "another-owner";
    metadata["name"] = fmt::format("not-owned-{}", below(1000));
  } else if (chance(3)) {
    metadata.erase("ownerReferences");
    // A head of another group is not adopted, so it cannot have the name of ours.
    const bool adopted = metadata["labels"]["ray.io/group"] != "unknown";
    if (!adopted || chance(50)) metadata["name"] = fmt::format("orphan-{}", below(1000));
  }
  if (chance(3)) {  // Of an earlier operator.
    for (const char* key : {"ray.io/upgrade-strategy-recreate-hash", "ray.io/kuberay-version"}) {
      metadata["annotations"].erase(key);
    }
    metadata["annotations"].erase("tpuslice.dev/template-hash");
  }
  return pod;
}

void Generator::add_replica(World& world, const std::string& group, int replica) {
  const RayClusterSpec spec = RayClusterSpec::read(world.cluster());
  const WorkerGroup* found = spec.group(group);
  for (int host = 0; host < found->hosts; ++host) {
    if (chance(7)) continue;
    const Result<Object> pod = build_worker_pod(spec, *found, {replica, host}, world.options());
    TPUSLICE_CHECK_MSG(pod.ok(), pod.ok() ? "" : pod.error().message());
    world.add_pod(distort(pod->json()));
    if (!chance(4)) continue;
    Json duplicate = distort(pod->json());
    duplicate["metadata"]["name"] = fmt::format("duplicate-{}", below(1000));
    world.add_pod(std::move(duplicate));
  }
}

void Generator::add_head(World& world) {
  const Object head = *build_head_pod(RayClusterSpec::read(world.cluster()), {});
  world.add_pod(distort(head.json()));
  if (!chance(5)) return;
  Json second = distort(head.json());
  second["metadata"]["name"] = "second-head";
  world.add_pod(std::move(second));
}

World Generator::world() {
  Options options;
  options.mutation.gate = chance(50);
  World out(random_cluster(), options);
  if (chance(15)) return out;
  if (chance(85)) add_head(out);
  const RayClusterSpec spec = RayClusterSpec::read(out.cluster());
  for (const WorkerGroup& group : spec.groups) {
    for (int replica = 0; replica < 4; ++replica) {
      if (chance(55)) add_replica(out, group.name, replica);
    }
  }
  for (const Object& service : {build_head_service(spec, {}), build_headless_service(spec)}) {
    if (chance(25)) continue;
    Json json = service.json();
    if (chance(10)) json["spec"]["selector"]["stray"] = "x";
    if (chance(10)) json["spec"]["ports"] = Json::array();
    out.add_service(std::move(json));
  }
  for (const Object& child : desired_children(spec)) {
    if (chance(30)) continue;
    Json json = child.json();
    if (chance(10)) {
      json["metadata"].erase("ownerReferences");
    } else if (chance(10)) {
      json["metadata"]["labels"]["app.kubernetes.io/name"] = "other";
    } else if (chance(20) && json.contains("rules")) {
      json["rules"][0]["resourceNames"] = {"a"};
    }
    out.add_child(std::move(json));
  }
  if (chance(40)) edit(out);
  return out;
}

void Generator::edit(World& world) {
  Json& groups = groups_of(world);
  if (chance(10)) world.cluster().mutable_json()["spec"]["suspend"] = chance(50);
  if (chance(10)) world.cluster().mutable_json()["spec"]["rayVersion"] = chance(50) ? "2.53.0" : "2.54.0";
  if (chance(10)) groups.push_back(random_group(10 + below(5)));
  if (groups.size() > 1 && groups.back()["groupName"] == groups[groups.size() - 2]["groupName"])
    groups.erase(groups.size() - 1);
  if (groups.empty()) return;
  if (chance(10)) {
    groups.erase(static_cast<std::size_t>(below(static_cast<int>(groups.size()))));
    return;
  }
  Json& group = groups[static_cast<std::size_t>(below(static_cast<int>(groups.size())))];
  group["replicas"] = below(4);
  const bool autoscaled = bool_at(world.cluster().json(), {"spec", "enableInTreeAutoscaling"});
  if (!autoscaled && chance(10)) group["suspend"] = chance(50);
  if (chance(30)) {
    group["template"]["spec"]["containers"][0]["image"] = fmt::format("rayproject/ray:2.49.{}", below(3));
  }
  const bool free_size = !group["template"]["spec"].contains("nodeSelector");
  if (free_size && chance(30)) group["numOfHosts"] = 1 + below(4);
  if (!chance(30)) return;
  Json& names = group["scaleStrategy"]["workersToDelete"] = Json::array();
  const RayClusterSpec spec = RayClusterSpec::read(world.cluster());
  names.push_back(worker_pod_name(spec, group["groupName"].get<std::string>(), {below(3), 0}));
  if (!world.pods().empty() && chance(50)) names.push_back(world.pods().begin()->first);
}

void Generator::disturb(World& world) {
  if (world.pods().empty()) return;
  auto victim = world.pods().begin();
  std::advance(victim, below(static_cast<int>(world.pods().size())));
  Json pod = victim->second;
  pod["status"] = {{"phase", chance(50) ? "Failed" : "Succeeded"}};
  if (chance(30)) pod["metadata"]["deletionTimestamp"] = "2025-12-31T01:00:00Z";
  world.add_pod(std::move(pod));
}

}  // namespace tpuslice::raycluster
