// An Indexed Job of one v6e slice of 4x4 chips, and its headless service, as YAML.
#pragma once

#include <string>

#include <fmt/format.h>

namespace tpuslice::testing {

[[nodiscard]] inline std::string service_of_job(const std::string& name, const std::string& namespace_name) {
  return fmt::format(
      "{{apiVersion: v1, kind: Service, metadata: {{name: {0}, namespace: {1}}}, spec: {{clusterIP: None, selector: "
      "{{batch.kubernetes.io/job-name: {0}}}}}}}",
      name, namespace_name);
}

struct JobOfSlice {
  int hosts = 4;
  std::string annotations = {};    ///< Of its pods: members of a YAML map.
  std::string tolerations = "[]";  ///< A YAML list.
};

[[nodiscard]] inline std::string job_of_slice(const std::string& name, const std::string& namespace_name,
                                              const JobOfSlice& job) {
  return fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}, namespace: {1}}}
spec:
  completions: {2}
  parallelism: {2}
  completionMode: Indexed
  backoffLimitPerIndex: 5
  template:
    metadata: {{annotations: {{{3}}}}}
    spec:
      subdomain: {0}
      restartPolicy: Never
      tolerations: {4}
      nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}}
      containers: [{{name: worker, image: example, resources: {{limits: {{google.com/tpu: "4"}}}}}}]
)",
                     name, namespace_name, job.hosts, job.annotations, job.tolerations);
}

}  // namespace tpuslice::testing
