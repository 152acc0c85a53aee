#include "tests/e2e/attacks/attack_objects.h"

#include <utility>

#include <fmt/format.h>

namespace tpuslice::testing {

Json pod_template(const std::string& argument) {
  return {{"spec",
           {{"containers", Json::array({Json{{"name", "main"}, {"image", "i"}, {"args", Json::array({argument})}}})}}}};
}

Json metadata(const std::string& name) { return {{"name", name}, {"namespace", "default"}}; }

Json ray_group(const std::string& name, std::int64_t replicas, std::int64_t hosts, Json pods) {
  return {{"groupName", name},          {"replicas", replicas}, {"minReplicas", 0},
          {"maxReplicas", 2147483647},  {"numOfHosts", hosts},  {"rayStartParams", Json::object()},
          {"template", std::move(pods)}};
}

Object ray_cluster(const std::string& name, Json groups) {
  return Object({{"apiVersion", "ray.io/v1"},
                 {"kind", "RayCluster"},
                 {"metadata", metadata(name)},
                 {"spec",
                  {{"headGroupSpec", {{"rayStartParams", Json::object()}, {"template", pod_template()}}},
                   {"workerGroupSpecs", std::move(groups)}}}});
}

Json replicated_job(const std::string& name, std::int64_t replicas, Json pods) {
  pods["spec"]["restartPolicy"] = "Never";
  return {{"name", name},
          {"replicas", replicas},
          {"template", {{"spec", {{"parallelism", 1}, {"completions", 1}, {"template", std::move(pods)}}}}}};
}

Object job_set(const std::string& name, Json jobs) {
  return Object({{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                 {"kind", "JobSet"},
                 {"metadata", metadata(name)},
                 {"spec", {{"replicatedJobs", std::move(jobs)}}}});
}

Object leader_worker_set(const std::string& name, std::int64_t replicas, std::int64_t size, Json pods) {
  return Object(
      {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
       {"kind", "LeaderWorkerSet"},
       {"metadata", metadata(name)},
       {"spec",
        {{"replicas", replicas}, {"leaderWorkerTemplate", {{"size", size}, {"workerTemplate", std::move(pods)}}}}}});
}

Json plain_pod(Json labels) {
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata("plain")}, {"spec", pod_template()["spec"]}};
  if (!labels.empty()) pod["metadata"]["labels"] = std::move(labels);
  return pod;
}

Object named_like_group(const std::string& set, std::int64_t group) {
  const Json labels = {{"leaderworkerset.sigs.k8s.io/name", set}};
  Json meta = metadata(fmt::format("{}-{}", set, group));
  meta["labels"] = labels;
  Json pods = pod_template();
  pods["metadata"]["labels"] = labels;
  return Object({{"apiVersion", "apps/v1"},
                 {"kind", "StatefulSet"},
                 {"metadata", std::move(meta)},
                 {"spec",
                  {{"replicas", 0},
                   {"serviceName", set},
                   {"selector", {{"matchLabels", labels}}},
                   {"template", std::move(pods)}}}});
}

Json tpu_pod(const std::string& name, int containers, const std::string& accelerator, const std::string& topology) {
  Json pod = {
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata(name)}, {"spec", {{"containers", Json::array()}}}};
  for (int i = 0; i < containers; ++i) {
    pod["spec"]["containers"].push_back(
        {{"name", fmt::format("c{}", i)}, {"image", "i"}, {"resources", {{"limits", {{"google.com/tpu", "1"}}}}}});
  }
  pod["spec"]["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", accelerator},
                                 {"cloud.google.com/gke-tpu-topology", topology}};
  pod["metadata"]["labels"] = {{"ray.io/cluster", "rc"},
                               {"ray.io/group", "g"},
                               {"ray.io/worker-group-replica-index", "0"},
                               {"ray.io/replica-host-index", "0"}};
  return pod;
}

Json group_pod(const std::string& name, const std::string& size) {
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", "default"},
        {"labels", {{"leaderworkerset.sigs.k8s.io/name", "serve"}, {"leaderworkerset.sigs.k8s.io/worker-index", "0"}}},
        {"annotations", {{"leaderworkerset.sigs.k8s.io/size", size}}}}},
      {"spec",
       {{"subdomain", "serve"},
        {"containers",
         Json::array({Json{{"name", "c"}, {"image", "i"}, {"resources", {{"limits", {{"google.com/tpu", "4"}}}}}}})}}}};
}

std::string review_of(const std::string& object) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},"operation":"CREATE","namespace":"default","object":)" +
         object + "}}";
}

}  // namespace tpuslice::testing
