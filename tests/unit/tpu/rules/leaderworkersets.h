// LeaderWorkerSets for tests.
#pragma once

#include <string>
#include <vector>

#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules::testing {

/// A valid set without TPUs: three groups of a leader and a worker with one template.
inline Json plain_set() {
  return Json::parse(R"({
    "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
    "metadata": {"name": "plain", "namespace": "default"},
    "spec": {"replicas": 3, "leaderWorkerTemplate": {
      "size": 2, "workerTemplate": {"spec": {"containers": [{"name": "worker"}]}}}}})");
}

/// GKE's tutorial: four v6e hosts of topology 4x4, and a leader without TPUs on one of their nodes.
inline Json serving_set() {
  return Json::parse(R"json({
    "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
    "metadata": {"name": "serve", "namespace": "default",
                 "annotations": {"leaderworkerset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"}},
    "spec": {"replicas": 1, "leaderWorkerTemplate": {
      "size": 5,
      "leaderTemplate": {
        "metadata": {"labels": {"app": "serve"}},
        "spec": {
          "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                           "cloud.google.com/gke-tpu-topology": "4x4"},
          "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
          "containers": [
            {"name": "proxy", "image": "proxy:1", "args": null, "ports": [{"containerPort": 38681}]},
            {"name": "manager", "image": "server:1", "args": ["--server_port=38677"],
             "env": [{"name": "HOST_ADDRESS", "value": "$(LWS_LEADER_ADDRESS)"},
                     {"name": "TPU_SKIP_MDS_QUERY", "value": "true"}],
             "securityContext": {"privileged": true}, "ports": [{"containerPort": 38677}]},
            {"name": "model", "image": "model:1", "imagePullPolicy": "Always", "ports": [{"containerPort": 9000}],
             "startupProbe": {"httpGet": {"path": "/healthcheck", "port": 8000, "scheme": "HTTP"},
                              "periodSeconds": 1, "initialDelaySeconds": 600, "failureThreshold": 10000}},
            {"name": "http", "image": "http:1", "ports": [{"containerPort": 8000}]}]}},
      "workerTemplate": {"spec": {
          "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                           "cloud.google.com/gke-tpu-topology": "4x4"},
          "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
          "containers": [
            {"name": "worker", "image": "server:1",
             "args": ["--server_port=38679", "--manager=$(LWS_LEADER_ADDRESS):38677"],
             "resources": {"limits": {"google.com/tpu": "4"}}}]}}}}})json");
}

/// GKE's tutorial of disaggregated serving: two subgroups of two hosts of topology 2x4, and a leader without TPUs.
inline Json disaggregated_set() {
  Json set = serving_set();
  set["metadata"]["name"] = "disaggregated";
  set["metadata"]["annotations"] = {
      {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "cloud.google.com/gke-nodepool"}};
  Json& groups = set["spec"]["leaderWorkerTemplate"];
  groups["subGroupPolicy"] = {{"subGroupSize", 2}};
  for (const char* pod : {"leaderTemplate", "workerTemplate"}) {
    groups[pod]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = "2x4";
  }
  groups["leaderTemplate"]["spec"]["containers"][2]["securityContext"] = {
      {"capabilities", {{"add", {"SYS_PTRACE", "NET_ADMIN", "SYS_TIME"}}}}};
  groups["workerTemplate"]["spec"].erase("tolerations");
  return set;
}

/// Upstream's sample: four v5e hosts of topology 4x4, including the leader.
inline Json uniform_set() {
  Json set = serving_set();
  Json& groups = set["spec"]["leaderWorkerTemplate"];
  groups.erase("leaderTemplate");
  groups["size"] = 4;
  groups["workerTemplate"]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] = "tpu-v5-lite-podslice";
  return set;
}

enum class Leader { kWithoutTpus, kWithTpus, kAlone };

/// A group of v6e hosts with 4 chips; 0 is no subgroups.
inline Json group_of(Leader leader, const char* topology, int size, int subgroup_size = 0,
                     bool leader_excluded = false) {
  Json set = serving_set();
  Json& groups = set["spec"]["leaderWorkerTemplate"];
  groups["size"] = size;
  if (subgroup_size > 0) groups["subGroupPolicy"]["subGroupSize"] = subgroup_size;
  if (leader_excluded) groups["subGroupPolicy"]["subGroupPolicyType"] = "LeaderExcluded";
  for (const char* pod : {"leaderTemplate", "workerTemplate"}) {
    groups[pod]["spec"]["nodeSelector"]["cloud.google.com/gke-tpu-topology"] = topology;
  }
  if (leader != Leader::kWithoutTpus) {
    groups["leaderTemplate"]["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = "4";
  }
  if (leader == Leader::kAlone) groups["workerTemplate"]["spec"]["containers"][0].erase("resources");
  return set;
}

inline std::vector<std::string> set_errors(const Json& set, const Json* old = nullptr) {
  std::vector<std::string> messages;
  for (const FieldError& error : validate_leaderworkerset(set, old)) messages.push_back(error.to_string());
  return messages;
}

}  // namespace tpuslice::rules::testing
