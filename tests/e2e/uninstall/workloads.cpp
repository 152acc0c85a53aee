#include "tests/e2e/uninstall/workloads.h"

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

/// A pod spec in flow style. `more`: further members.
std::string pod_spec(const std::string& more = "") {
  return fmt::format(
      "{{{}terminationGracePeriodSeconds: 0, nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, "
      "cloud.google.com/gke-tpu-topology: 4x4}}, containers: [{{name: main, image: example, resources: {{limits: "
      "{{google.com/tpu: 4}}}}}}]}}",
      more);
}

std::string headless_service(const std::string& name) {
  return fmt::format(
      "apiVersion: v1\nkind: Service\nmetadata: {{name: {0}}}\nspec: {{clusterIP: None, selector: {{app: "
      "{0}}}}}\n---\n",
      name);
}

std::string raycluster(const std::string& name) {
  return fmt::format(R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: {}}}
spec:
  headGroupSpec:
    rayStartParams: {{}}
    template: {{spec: {{containers: [{{name: head, image: example, resources: {{limits: {{cpu: "1", memory: 1Gi}}}}}}]}}}}
  workerGroupSpecs:
    - {{groupName: tpu, replicas: 1, numOfHosts: {}, rayStartParams: {{}}, template: {{spec: {}}}}}
)",
                     name, kHostsOfSlice, pod_spec());
}

std::string leaderworkerset(const std::string& name) {
  return fmt::format(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: {}}}
spec: {{replicas: 1, leaderWorkerTemplate: {{size: {}, workerTemplate: {{spec: {}}}}}}}
)",
                     name, kHostsOfSlice, pod_spec());
}

std::string job(const std::string& name) {
  return headless_service(name) + fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}}}
spec:
  completions: {1}
  parallelism: {1}
  completionMode: Indexed
  template: {{metadata: {{labels: {{app: {0}}}}}, spec: {2}}}
)",
                                              name, kHostsOfSlice,
                                              pod_spec(fmt::format("subdomain: {}, restartPolicy: Never, ", name)));
}

std::string stateful_set(const std::string& name) {
  return headless_service(name) + fmt::format(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: {0}}}
spec:
  replicas: {1}
  serviceName: {0}
  podManagementPolicy: Parallel
  selector: {{matchLabels: {{app: {0}}}}}
  template: {{metadata: {{labels: {{app: {0}}}}}, spec: {2}}}
)",
                                              name, kHostsOfSlice, pod_spec());
}

}  // namespace

std::string jobset_manifest(const std::string& name, bool suspended) {
  return fmt::format(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: {0}}}
spec:
  suspend: {1}
  replicatedJobs:
    - name: slice
      template:
        spec: {{completions: {2}, parallelism: {2}, backoffLimit: 6, template: {{spec: {3}}}}}
)",
                     name, suspended, kHostsOfSlice, pod_spec("restartPolicy: Never, "));
}

std::string single_pod_manifest(const std::string& name) {
  return fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec: {}\n", name, pod_spec());
}

std::vector<SliceWorkload> workloads_of_every_kind(const std::string& name) {
  return {{"raycluster", raycluster(name + "-raycluster")},
          {"jobset", jobset_manifest(name + "-jobset", false)},
          {"leaderworkerset", leaderworkerset(name + "-lws")},
          {"job", job(name + "-job")},
          {"statefulset", stateful_set(name + "-sts")}};
}

}  // namespace tpuslice::testing
