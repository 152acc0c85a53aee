#include "tests/nodes/recovery/workloads.h"

#include <utility>
#include <vector>

namespace tpuslice::bench {
namespace {

constexpr const char* kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: $NAME
  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}
spec:
  failurePolicy: {maxRestarts: 100}
  replicatedJobs:
    - name: slice
      template:
        spec:
          parallelism: 4
          completions: 4
          backoffLimit: 0
          template:
            metadata: {annotations: {$ANNOTATIONS}}
            spec: {restartPolicy: Never, nodeSelector: $SLICE, containers: [{$CONTAINER, resources: $CHIPS}]}
)";

constexpr const char* kLeaderWorkerSet = R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: $NAME
  annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 4
    restartPolicy: RecreateGroupOnPodRestart
    workerTemplate:
      metadata: {annotations: {$ANNOTATIONS}}
      spec: {nodeSelector: $SLICE, containers: [{$CONTAINER, resources: $CHIPS}]}
)";

// The containers run without Ray: the command is kept, the probes succeed, and so does the init container that waits
// for the head, since its bash does nothing.
constexpr const char* kRayCluster = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: shell}
data: {bash: "#!/bin/sh\n"}
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: $NAME}
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      metadata: {annotations: {ray.io/overwrite-container-cmd: "true"}}
      spec:
        containers: [{$CONTAINER, resources: {limits: {memory: 64Mi}}, $PROBES}]
  workerGroupSpecs:
    - groupName: tpu
      replicas: 1
      minReplicas: 1
      maxReplicas: 1
      numOfHosts: 4
      rayStartParams: {}
      template:
        metadata: {annotations: {ray.io/overwrite-container-cmd: "true", $ANNOTATIONS}}
        spec:
          restartPolicy: Never
          nodeSelector: $SLICE
          containers: [{$CONTAINER, resources: $CHIPS, $PROBES,
                        volumeMounts: [{name: shell, mountPath: /bin/bash, subPath: bash}]}]
          volumes: [{name: shell, configMap: {name: shell, defaultMode: 0755}}]
)";

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: $NAME}
spec: {restartPolicy: Never, nodeName: $NODE, containers: [{$CONTAINER, resources: $CHIPS}]}
)";

constexpr const char* kContainerText =
    "name: host, image: localhost/busybox:1, imagePullPolicy: IfNotPresent, command: [sh, -c, "
    "\"trap 'exec dd if=/dev/zero of=/dev/null bs=1G count=1' USR1; while true; do sleep 3600 & wait; done\"]";

}  // namespace

const std::array<Workload, 4>& workloads() {
  static const std::array<Workload, 4> kWorkloads = {{{"jobset", "jobset", "jobset", kJobSet},
                                                      {"leaderworkerset", "leaderworkerset", "lws", kLeaderWorkerSet},
                                                      {"raycluster", "raycluster", "kuberay", kRayCluster},
                                                      {"pods", "pods", "by hand", kPod}}};
  return kWorkloads;
}

std::string manifest_of(const Workload& workload, const ManifestOptions& options) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"$NAME", options.name},
      {"$NODE", options.node},
      {"$ANNOTATIONS", options.short_teardown ? R"(tpuslice.dev/teardown-grace-period-seconds: "1")" : ""},
      {"$SLICE", "{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}"},
      {"$CONTAINER", kContainerText},
      {"$CHIPS", "{limits: {memory: 64Mi, google.com/tpu: 4}}"},
      {"$PROBES",
       "livenessProbe: {exec: {command: [\"true\"]}}, readinessProbe: {exec: {command: [\"true\"]}, periodSeconds: "
       "1}"}};
  std::string text = workload.manifest;
  for (const auto& [word, value] : words) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size()) {
      text.replace(at, word.size(), value);
    }
  }
  return text;
}

}  // namespace tpuslice::bench
