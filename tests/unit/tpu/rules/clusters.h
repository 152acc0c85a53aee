// RayClusters, RayJobs and RayServices for tests.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::rules::testing {

/// A legal cluster: a head, and one group of v6e 4x4 slices.
inline Json tpu_cluster() {
  return Json::parse(R"({
    "apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "rc", "namespace": "default"},
    "spec": {
      "headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [{"name": "head"}]}}},
      "workerGroupSpecs": [{
        "groupName": "tpu", "replicas": 1, "minReplicas": 0, "maxReplicas": 2, "numOfHosts": 4, "rayStartParams": {},
        "template": {"spec": {
          "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                           "cloud.google.com/gke-tpu-topology": "4x4"},
          "containers": [{"name": "worker", "resources": {"limits": {"google.com/tpu": "4"},
                                                          "requests": {"google.com/tpu": "4"}}}]}}}]}})");
}

/// A legal job that trains on that cluster.
inline Json tpu_rayjob() {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayJob"},
          {"metadata", {{"name", "train"}, {"namespace", "default"}}},
          {"spec",
           {{"entrypoint", "python train.py"},
            {"shutdownAfterJobFinishes", true},
            {"rayClusterSpec", tpu_cluster()["spec"]}}}};
}

/// A legal service that runs on that cluster.
inline Json tpu_rayservice() {
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayService"},
          {"metadata", {{"name", "llm"}, {"namespace", "default"}}},
          {"spec",
           {{"serveConfigV2", "applications:\n- {name: llm, import_path: 'serve:app', route_prefix: /}\n"},
            {"rayClusterConfig", tpu_cluster()["spec"]}}}};
}

inline Json with(Json cluster, const std::string& pointer, Json value) {
  cluster[Json::json_pointer(pointer)] = std::move(value);
  return cluster;
}

inline Json without(Json cluster, const std::string& parent, const std::string& member) {
  cluster[Json::json_pointer(parent)].erase(member);
  return cluster;
}

}  // namespace tpuslice::rules::testing
