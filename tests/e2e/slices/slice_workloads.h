// Workloads of one v6e slice of four hosts, of every kind whose pods the operator places.
#pragma once

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/types/resource_type.h"

namespace tpuslice::testing {

/// A kind, and how its workload of one slice is written.
struct SliceKind {
  std::string name;    ///< In the names of tests: letters only.
  std::string prefix;  ///< Of the names of its workloads.
  ResourceType type;
  std::string (*manifest)(const std::string& name) = nullptr;  ///< YAML: the workload and its headless service, if any.
  bool kill_operator = false;  ///< While the workloads are created; costs the time of a Lease.
};
inline void PrintTo(const SliceKind& kind, std::ostream* out) { *out << kind.name; }

namespace slice_workloads {

/// A pod spec in flow style. `more`: further members, each with a comma after it.
inline std::string pod_spec(const std::string& more = "") {
  return fmt::format(
      "{{{}nodeSelector: {{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: "
      "4x4}}, containers: [{{name: worker, image: example, resources: {{limits: {{cpu: 1, google.com/tpu: 4}}}}}}]}}",
      more);
}

inline std::string headless_service(const std::string& name) {
  return fmt::format(R"(
apiVersion: v1
kind: Service
metadata: {{name: {0}}}
spec: {{clusterIP: None, selector: {{app: {0}}}}}
---)",
                     name);
}

inline std::string ray_cluster_spec() {
  return fmt::format(R"(
    headGroupSpec:
      rayStartParams: {{}}
      template:
        spec: {{containers: [{{name: head, image: example, resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]}}
    workerGroupSpecs:
      - groupName: tpu
        replicas: 1
        minReplicas: 0
        maxReplicas: 1
        numOfHosts: 4
        rayStartParams: {{}}
        template: {{spec: {0}}}
)",
                     pod_spec());
}

inline std::string ray_cluster(const std::string& name) {
  return fmt::format("apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {{name: {}}}\nspec:{}", name,
                     ray_cluster_spec());
}

/// InteractiveMode, since no Ray runs that a submitter could reach.
inline std::string ray_job(const std::string& name) {
  return fmt::format(
      "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {{name: {}}}\nspec:\n  submissionMode: InteractiveMode\n"
      "  rayClusterSpec:{}",
      name, ray_cluster_spec());
}

inline std::string ray_service(const std::string& name) {
  return fmt::format(
      "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {{name: {}}}\nspec:\n"
      "  serveConfigV2: 'applications: [{{name: app, import_path: app:app}}]'\n  rayClusterConfig:{}",
      name, ray_cluster_spec());
}

inline std::string job_spec(const std::string& pod) {
  return fmt::format(
      "{{completions: 4, parallelism: 4, completionMode: Indexed, backoffLimitPerIndex: 5, template: {}}}", pod);
}

inline std::string job_set(const std::string& name) {
  return fmt::format(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: {}}}
spec: {{replicatedJobs: [{{name: w, template: {{spec: {}}}}}]}}
)",
                     name, job_spec(fmt::format("{{spec: {}}}", pod_spec("restartPolicy: Never, "))));
}

inline std::string indexed_job(const std::string& name) {
  const std::string spec = pod_spec(fmt::format("subdomain: {}, restartPolicy: Never, ", name));
  return headless_service(name) +
         fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {0}}}
spec: {1}
)",
                     name, job_spec(fmt::format("{{metadata: {{labels: {{app: {}}}}}, spec: {}}}", name, spec)));
}

inline std::string leader_worker_set(const std::string& name) {
  return fmt::format(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: {}}}
spec: {{replicas: 1, leaderWorkerTemplate: {{size: 4, workerTemplate: {{spec: {}}}}}}}
)",
                     name, pod_spec());
}

inline std::string stateful_set_with(const std::string& name, const std::string& policy) {
  return headless_service(name) + fmt::format(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: {0}}}
spec:
  replicas: 4
  serviceName: {0}
  podManagementPolicy: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  template: {{metadata: {{labels: {{app: {0}}}}}, spec: {2}}}
)",
                                              name, policy, pod_spec());
}

inline std::string stateful_set(const std::string& name) { return stateful_set_with(name, "Parallel"); }
inline std::string ordered_stateful_set(const std::string& name) { return stateful_set_with(name, "OrderedReady"); }

}  // namespace slice_workloads

/// The first four; all of them with TPUSLICE_ALL_KINDS=1. The pods of the others are made by the controllers of these.
inline std::vector<SliceKind> slice_kinds() {
  namespace w = slice_workloads;
  std::vector<SliceKind> kinds = {
      {"RayClusters", "ray", {"ray.io", "v1", "RayCluster", "rayclusters"}, w::ray_cluster, true},
      {"JobSets", "jobset", {"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"}, w::job_set},
      {"LeaderWorkerSets",
       "lws",
       {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"},
       w::leader_worker_set},
      {"IndexedJobs", "job", kJobs, w::indexed_job, true},
      {"StatefulSets", "sts", kStatefulSets, w::stateful_set},
      {"OrderedStatefulSets", "ordered", kStatefulSets, w::ordered_stateful_set},
      {"RayJobs", "rayjob", {"ray.io", "v1", "RayJob", "rayjobs"}, w::ray_job},
      {"RayServices", "rayservice", {"ray.io", "v1", "RayService", "rayservices"}, w::ray_service},
  };
  if (std::getenv("TPUSLICE_ALL_KINDS") == nullptr)
    kinds.erase(kinds.begin() + 4, kinds.end());  // NOLINT: no thread changes the environment
  return kinds;
}

}  // namespace tpuslice::testing
