#include "tests/e2e/generated_attacks/seed_objects.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/check.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/e2e/attacks/attack_objects.h"
#include "tests/support/pods.h"

namespace tpuslice::testing {
namespace {

using tpu::testing::JobPod;
using tpu::testing::kLargestSlice;
using tpu::testing::LwsPod;
using tpu::testing::RayPod;
using tpu::testing::StatefulSetPod;

/// Labels that the watches of the operator select, so that each object is in every store of its type.
Json watched_labels() {
  return {{"ray.io/cluster", "rc"},
          {"ray.io/node-type", "worker"},
          {"ray.io/originated-from-crd", "RayJob"},
          {"jobset.sigs.k8s.io/jobset-name", "js"},
          {"leaderworkerset.sigs.k8s.io/name", "lws"}};
}

Json with_images(Json pod) {
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  pod["metadata"].erase("namespace");
  return pod;
}

Json object_of(const std::string& api_version, const std::string& kind, Json spec) {
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata", {{"name", "seed"}, {"labels", watched_labels()}}},
          {"spec", std::move(spec)}};
}

Json without_namespace(const Object& object) {
  Json json = object.json();
  json["metadata"].erase("namespace");
  return json;
}

/// A pod template with the labels of the pods that the operator watches.
Json watched_template() {
  Json pods = pod_template();
  pods["metadata"]["labels"] = watched_labels();
  pods["spec"]["restartPolicy"] = "Never";
  return pods;
}

}  // namespace

const std::vector<ResourceType>& attacked_types() {
  static const auto* const kTypes = new std::vector<ResourceType>{
      kRayClusterType,
      {"ray.io", "v1", "RayJob", "rayjobs"},
      {"ray.io", "v1", "RayService", "rayservices"},
      kJobSetType,
      kSetType,
      {"batch", "v1", "Job", "jobs"},
      {"apps", "v1", "StatefulSet", "statefulsets"},
      {"", "v1", "Pod", "pods"},
      {"", "v1", "Service", "services"},
      {"", "v1", "ServiceAccount", "serviceaccounts"},
      {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
  };
  return *kTypes;
}

const ResourceType& type_of_kind(const std::string& kind) {
  const auto found = std::ranges::find(attacked_types(), kind, [](const ResourceType& type) { return type.kind; });
  TPUSLICE_CHECK(found != attacked_types().end());
  return *found;
}

Result<SeedObjects> SeedObjects::read() {
  SeedObjects seeds;
  seeds.add_pods();
  seeds.add_idle();
  RETURN_IF_ERROR(seeds.add_samples());
  return seeds;
}

Result<const SeedObject*> SeedObjects::find(const std::string& name) const {
  const auto found = std::ranges::find(objects_, name, &SeedObject::name);
  if (found == objects_.end()) return Error::not_found("no object {} to attack with", name);
  return &*found;
}

void SeedObjects::add(const std::string& name, Json json, bool idle) {
  objects_.push_back({name, type_of_kind(string_at(json, {"kind"})), std::move(json), idle});
}

Status SeedObjects::add_samples() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("deploy/samples")) {
    if (entry.path().extension() == ".yaml") paths.insert(entry.path());
  }
  for (const auto& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path.string()));
    ASSIGN_OR_RETURN(const auto documents, parse_yaml_documents(text));
    for (const YamlDocument& document : documents) {
      const std::string kind = string_at(document.value, {"kind"});
      const auto known = [&](const ResourceType& type) { return type.kind == kind; };
      if (std::ranges::none_of(attacked_types(), known)) continue;
      add(fmt::format("{}/{}", path.stem().string(), kind), document.value, kind == "Service");
    }
  }
  return {};
}

void SeedObjects::add_pods() {
  const auto add_both = [this](const std::string& name, const Json& small, const Json& largest) {
    add(name, with_images(small), true);
    add(name + "/largest", with_images(largest), true);
  };
  add_both("pod-ray", RayPod{}.json(), RayPod{.accelerator = "tpu7x", .topology = "16x24x24", .chips = {1}}.json());
  add_both("pod-job", JobPod{}.json(), JobPod{.shape = kLargestSlice}.json());
  const JobPod of_job_set{.job_set = "js", .replicated_job = "w", .replicas = 2};
  JobPod largest = of_job_set;
  largest.shape = kLargestSlice;
  add_both("pod-jobset", of_job_set.json(), largest.json());
  add_both("pod-statefulset", StatefulSetPod{}.json(), StatefulSetPod{.shape = kLargestSlice}.json());
  add_both("pod-lws-leader", LwsPod{}.json(), LwsPod{.shape = kLargestSlice, .size = 9216}.json());
  add_both("pod-lws-worker", LwsPod{.worker = 1}.json(),
           LwsPod{.shape = kLargestSlice, .worker = 1, .size = 9216, .subgroup_size = 4608}.json());
  Json bare = JobPod{.shape = kLargestSlice, .job = "j"}.json();
  bare["metadata"].erase("ownerReferences");
  bare["spec"].erase("hostname");
  add("pod-bare/largest", with_images(std::move(bare)), true);
  Json processes = LwsPod{.shape = {.chips = {1, 1, 1, 1, 1, 1, 1, 1}}, .size = 1152}.json();
  processes["spec"].erase("nodeSelector");
  add("pod-lws-leader/processes", with_images(std::move(processes)), true);
}

void SeedObjects::add_idle() {
  const Json pods = watched_template();
  Json gated = with_images(JobPod{.job = "j"}.json());
  gated["metadata"].erase("ownerReferences");
  gated["metadata"]["labels"].update(watched_labels());
  gated["spec"]["schedulingGates"] = Json::array({Json{{"name", "tpuslice.dev/slice"}}});
  add("idle-pod", std::move(gated), true);
  add("idle-job", object_of("batch/v1", "Job", {{"suspend", true}, {"template", pods}}), true);
  Json set = {{"replicas", 0}, {"serviceName", "s"}, {"template", pods}};
  set["selector"]["matchLabels"] = watched_labels();
  add("idle-statefulset", object_of("apps/v1", "StatefulSet", std::move(set)), true);
  add("idle-service", object_of("v1", "Service", {{"clusterIP", "None"}, {"selector", watched_labels()}}), true);
  Json account = object_of("v1", "ServiceAccount", {});
  account.erase("spec");
  add("idle-serviceaccount", std::move(account), true);
  Json claim = {{"accessModes", Json::array({"ReadWriteOnce"})}};
  claim["resources"]["requests"]["storage"] = "1Gi";
  add("idle-claim", object_of("v1", "PersistentVolumeClaim", std::move(claim)), true);

  Json cluster = without_namespace(ray_cluster("seed", Json::array({ray_group("g", 1, 4)})));
  cluster["spec"]["suspend"] = true;
  const Json cluster_spec = cluster["spec"];
  add("idle-raycluster", std::move(cluster), true);
  Json job_spec = {{"suspend", true}, {"entrypoint", "python main.py"}, {"rayClusterSpec", cluster_spec}};
  job_spec["rayClusterSpec"].erase("suspend");
  add("idle-rayjob", object_of("ray.io/v1", "RayJob", std::move(job_spec)), true);
  Json service_spec = {{"suspend", true}, {"serveConfigV2", "applications: []"}, {"rayClusterConfig", cluster_spec}};
  service_spec["rayClusterConfig"].erase("suspend");
  add("idle-rayservice", object_of("ray.io/v1", "RayService", std::move(service_spec)), true);
  Json suspended = without_namespace(job_set("seed", Json::array({replicated_job("w", 1)})));
  suspended["spec"]["suspend"] = true;
  add("idle-jobset", std::move(suspended), false);  // It has a suspended Job.
  add("idle-leaderworkerset", without_namespace(leader_worker_set("seed", 0, 4)), true);
}

}  // namespace tpuslice::testing
