// Jobs as a JobSet controller is about to create them, and the pods that the Job controller makes of them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/pods.h"

namespace tpuslice::jobset {

constexpr const char* kIndexKey = "batch.kubernetes.io/job-completion-index";

struct TemplateJob {
  tpu::testing::PodShape shape;
  int pods = 4;
  int replicas = 2;
  int job_index = 1;

  [[nodiscard]] Json json() const {
    const Json pod = tpu::testing::JobPod{.shape = shape,
                                          .subdomain = "js",
                                          .job_set = "js",
                                          .replicated_job = "w",
                                          .replicas = replicas,
                                          .job_index = job_index}
                         .json();
    Json labels = pod["metadata"]["labels"];
    for (const char* of_job : {"batch.kubernetes.io/job-name", kIndexKey}) labels.erase(of_job);
    Json pod_template = {{"metadata", {{"labels", labels}, {"annotations", labels}}}, {"spec", pod["spec"]}};
    pod_template["spec"].erase("hostname");
    pod_template["spec"]["restartPolicy"] = "OnFailure";
    return {
        {"apiVersion", "batch/v1"},
        {"kind", "Job"},
        {"metadata", {{"name", "js-w-" + std::to_string(job_index)}, {"namespace", "default"}}},
        {"spec",
         {{"completionMode", "Indexed"}, {"parallelism", pods}, {"completions", pods}, {"template", pod_template}}}};
  }
};

inline bool declares(const Json& env, std::string_view name) {
  return std::ranges::any_of(env, [&](const Json& variable) { return variable["name"] == name; });
}

/// Source: kubernetes, pkg/controller/job/indexed_job_utils.go, and the labels that the API server adds to a template.
inline Json pod_of(const Json& job, int index) {
  const std::string name = job["metadata"]["name"];
  const std::string number = std::to_string(index);
  Json pod = job["spec"]["template"];
  Json& metadata = pod["metadata"];
  metadata["generateName"] = name + "-" + number + "-";
  metadata["namespace"] = job["metadata"]["namespace"];
  metadata["ownerReferences"] = tpu::testing::owner("Job", name);
  metadata["labels"]["batch.kubernetes.io/controller-uid"] = "uid-of-" + name;
  metadata["labels"]["batch.kubernetes.io/job-name"] = name;
  metadata["labels"][kIndexKey] = number;
  metadata["annotations"][kIndexKey] = number;
  pod["spec"]["hostname"] = name + "-" + number;
  const std::string field = std::string("metadata.labels['") + kIndexKey + "']";
  const Json of_kubernetes = {{"name", "JOB_COMPLETION_INDEX"}, {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}};
  for (Json& container : pod["spec"]["containers"]) {
    if (!declares(container["env"], "JOB_COMPLETION_INDEX")) container["env"].push_back(of_kubernetes);
  }
  return pod;
}

/// What its containers and the slice controllers find: with the worker id that the downward API gives, without what
/// only names its source. Kubernetes' own variable, to which none of the others refers, comes last.
inline Json as_found(Json pod) {
  Json& annotations = pod["metadata"]["annotations"];
  const std::string field = std::string("metadata.annotations['") + kIndexKey + "']";
  for (Json& container : pod["spec"]["containers"]) {
    std::vector<Json> env = container["env"];
    for (Json& variable : env) {
      if (string_at(variable, {"valueFrom", "fieldRef", "fieldPath"}) != field) continue;
      variable = {{"name", variable["name"]}, {"value", annotations[kIndexKey]}};
    }
    std::ranges::stable_partition(env, [](const Json& variable) { return variable["name"] != "JOB_COMPLETION_INDEX"; });
    container["env"] = env;
  }
  annotations.erase("tpuslice.dev/slice-host");
  annotations.erase("tpuslice.dev/mutated-by");
  pod["metadata"]["labels"].erase("tpuslice.dev/host");
  return pod;
}

}  // namespace tpuslice::jobset
