#include "tests/e2e/memory/tenants_objects.h"

#include <utility>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

constexpr std::size_t kLong = 900'000;
constexpr std::size_t kMaxAnnotations = 200'000;

constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};
constexpr ResourceType kRayJobs{"ray.io", "v1", "RayJob", "rayjobs"};
constexpr ResourceType kRayServices{"ray.io", "v1", "RayService", "rayservices"};
constexpr ResourceType kSets{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"};
constexpr ResourceType kClaims{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"};

/// What no text of another object has in common with it.
std::string text(const std::string& name, std::size_t size) {
  std::string out = name;
  out.resize(size, 'x');
  return out;
}

/// With `size` bytes in the arguments of a container.
Json pods(const std::string& name, std::size_t size) {
  return {{"spec",
           {{"restartPolicy", "Never"},
            {"containers",
             Json::array({Json{{"name", "main"}, {"image", "i"}, {"args", Json::array({text(name, size)})}}})}}}};
}

StoredObject stored(const ResourceType& type, const std::string& space, const std::string& name, Json body) {
  body["apiVersion"] = type.api_version();
  body["kind"] = type.kind;
  body["metadata"]["name"] = name;
  body["metadata"]["namespace"] = space;
  return {type, Object(std::move(body))};
}

/// Without groups, and suspended.
Json ray_cluster_spec(const std::string& name) {
  return {{"suspend", true}, {"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pods(name, kLong)}}}};
}

Json jobs(const std::string& name, std::size_t size, int replicas) {
  return Json::array(
      {Json{{"name", "workers"},
            {"replicas", replicas},
            {"template", {{"spec", {{"parallelism", 1}, {"completions", 1}, {"template", pods(name, size)}}}}}}});
}

/// With labels and annotations that the stores select and keep.
Json suspended_job(const std::string& name) {
  Json body = {
      {"metadata", {{"labels", {{"jobset.sigs.k8s.io/jobset-name", "none"}}}, {"annotations", Json::object()}}},
      {"spec", {{"suspend", true}, {"template", pods(name, 100)}}}};
  for (int i = 0; i < 100; ++i) {
    body["metadata"]["labels"][fmt::format("jobset.sigs.k8s.io/{}-{}", name, i)] = std::string(63, 'v');
  }
  for (int i = 0; i < 16; ++i) {
    body["metadata"]["annotations"][fmt::format("jobset.sigs.k8s.io/{}", i)] = text(name, 1024);
  }
  return body;
}

Json selected(const char* label, const std::string& name) {
  return {{"metadata", {{"labels", {{label, "none"}}}, {"annotations", {{"text", text(name, kMaxAnnotations)}}}}}};
}

}  // namespace

std::vector<StoredObject> objects_of_a_tenant(const std::string& space, int count) {
  std::vector<StoredObject> out;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("many-{}", i);
    out.push_back(stored(kRayClusters, space, name, {{"spec", ray_cluster_spec(name)}}));
    out.push_back(
        stored(kRayJobs, space, name,
               {{"spec",
                 {{"suspend", true},
                  {"entrypoint", "run"},
                  {"rayClusterSpec",
                   {{"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pods(name, kLong)}}}}}}}}));
    out.push_back(
        stored(kRayServices, space, name,
               {{"spec",
                 {{"suspend", true},
                  {"rayClusterConfig",
                   {{"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pods(name, kLong)}}}}}}}}));
    out.push_back(
        stored(kStoredJobSets, space, name, {{"spec", {{"suspend", true}, {"replicatedJobs", jobs(name, kLong, 0)}}}}));
    out.push_back(stored(
        kSets, space, name,
        {{"spec",
          {{"replicas", 0}, {"leaderWorkerTemplate", {{"size", 1}, {"workerTemplate", pods(name, kLong / 3)}}}}}}));
    Json service = selected("ray.io/cluster", name);
    service["spec"] = {{"clusterIP", "None"}, {"selector", {{"app", name}}}};
    out.push_back(stored(kServices, space, name, std::move(service)));
    out.push_back(stored(kServiceAccounts, space, name, selected("ray.io/cluster", name)));
    Json claim = selected("jobset.sigs.k8s.io/jobset-name", name);
    claim["spec"] = {{"accessModes", Json::array({"ReadWriteOnce"})},
                     {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
    out.push_back(stored(kClaims, space, name, std::move(claim)));
    for (int job = 0; job < 10; ++job) {
      const std::string of_job = fmt::format("job-{}-{}", i, job);
      out.push_back(stored(kJobs, space, of_job, suspended_job(of_job)));
    }
  }
  return out;
}

Object a_small_jobset(const std::string& space, const std::string& name) {
  return stored(kStoredJobSets, space, name, {{"spec", {{"replicatedJobs", jobs(name, 10, 2)}}}}).object;
}

}  // namespace tpuslice::testing
