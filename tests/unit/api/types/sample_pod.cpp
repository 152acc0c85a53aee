#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {

const std::string_view kSamplePod = R"({
  "kind": "Pod",
  "apiVersion": "v1",
  "metadata": {
    "name": "train-workers-0-1",
    "namespace": "default",
    "uid": "0b5ac7e2-4f0e-4c5d-9e53-6a5be0d5a7f1",
    "resourceVersion": "4711",
    "generation": 2,
    "creationTimestamp": "2026-01-01T00:00:05Z",
    "deletionTimestamp": "2026-01-01T01:00:00Z",
    "deletionGracePeriodSeconds": 30,
    "labels": {"ray.io/cluster": "train", "quote\"d": "sl\u00e4sh"},
    "annotations": {"tpuslice.dev/slice-hosts": "4", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
    "ownerReferences": [
      {"apiVersion": "v1", "kind": "Node", "name": "other", "uid": "u0", "controller": false},
      {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "train", "uid": "u1", "controller": true,
       "blockOwnerDeletion": true}],
    "managedFields": [{"manager": "x", "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}}}]
  },
  "spec": {
    "volumes": [{"name": "v", "emptyDir": {}}],
    "initContainers": [{"name": "init", "image": "i", "resources": {"limits": {"google.com/tpu": "64"}}}],
    "containers": [
      {"name": "worker", "image": "ray:2", "env": [{"name": "A", "value": "[{]}\\\""}],
       "resources": {"limits": {"cpu": "8", "google.com/tpu": "4"}, "requests": {"google.com/tpu": "99"}}},
      {"name": "side", "image": "s", "resources": {"limits": {"google.com/tpu": 2}}},
      {"name": "none", "image": "n"}],
    "nodeName": "node-7",
    "hostname": "workers-0-1",
    "restartPolicy": "Never",
    "schedulingGates": [{"name": "tpuslice.dev/slice"}],
    "priority": 0
  },
  "status": {
    "phase": "Running",
    "reason": "Evicted",
    "message": "node is out of memory",
    "podIP": "10.0.0.9",
    "conditions": [
      {"type": "PodScheduled", "status": "True", "lastProbeTime": null},
      {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "side is not ready"}],
    "containerStatuses": [
      {"name": "worker", "ready": true, "restartCount": 3, "state": {"running": {"startedAt": "2026-01-01T00:00:09Z"}}},
      {"name": "side", "ready": false, "restartCount": 0,
       "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}},
      {"name": "none", "ready": false, "restartCount": 1,
       "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "boom"}}}]
  }
})";

}  // namespace tpuslice
