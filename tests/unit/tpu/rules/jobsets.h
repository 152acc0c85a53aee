// JobSets for tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules::testing {

/// A valid JobSet: a CPU job, and two v5e slices of 4x8 with eight hosts each that depend on it.
inline Json tpu_jobset() {
  return Json::parse(R"({
    "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train", "namespace": "default"},
    "spec": {
      "failurePolicy": {"maxRestarts": 3, "rules": [
        {"name": "preempted", "action": "RestartJobSetAndIgnoreMaxRestarts",
         "onJobFailureReasons": ["PodFailurePolicy"], "onJobFailureMessagePatterns": ["^Pod .* was preempted$"],
         "targetReplicatedJobs": ["slice"]}]},
      "successPolicy": {"operator": "All", "targetReplicatedJobs": ["slice"]},
      "network": {"enableDNSHostnames": true, "subdomain": "train-net"},
      "coordinator": {"replicatedJob": "slice", "jobIndex": 0, "podIndex": 0},
      "replicatedJobs": [
        {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1, "completions": 1, "template": {
          "spec": {"containers": [{"name": "driver", "image": "driver:1"}]}}}}},
        {"name": "slice", "groupName": "tpu", "replicas": 2,
         "dependsOn": [{"name": "driver", "status": "Ready"}],
         "template": {"spec": {"parallelism": 8, "completions": 8, "backoffLimit": 0, "completionMode": "Indexed",
          "template": {
            "metadata": {"labels": {"app": "train"}},
            "spec": {
              "restartPolicy": "Never",
              "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
                               "cloud.google.com/gke-tpu-topology": "4x8"},
              "containers": [{"name": "worker", "image": "train:1",
                              "resources": {"limits": {"google.com/tpu": "4", "memory": "1536Mi"}}}]}}}}}]}})");
}

inline std::vector<std::string> jobset_paths(const Json& jobset, const Json* old = nullptr) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_jobset(jobset, old)) paths.push_back(error.path);
  return paths;
}

inline std::string jobset_message(const Json& jobset, const Json* old = nullptr) {
  return to_message(validate_jobset(jobset, old));
}

/// A change of a field, the path that is refused, and a part of the message.
struct JobSetCase {
  const char* name;
  std::string pointer;
  Json value;
  const char* path;
  const char* message;
};

inline void PrintTo(const JobSetCase& c, std::ostream* out) { *out << c.name; }

/// The change of tpu_jobset() causes exactly this field error.
inline void expect_refused(const JobSetCase& c) {
  const Json jobset = with(tpu_jobset(), c.pointer, c.value);
  EXPECT_THAT(jobset_paths(jobset), ::testing::ElementsAre(c.path));
  EXPECT_THAT(jobset_message(jobset), ::testing::HasSubstr(c.message));
}

}  // namespace tpuslice::rules::testing
