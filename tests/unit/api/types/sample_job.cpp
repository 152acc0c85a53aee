#include "tests/unit/api/types/sample_job.h"

namespace tpuslice {

const std::string_view kSampleJob = R"({
  "kind": "Job",
  "apiVersion": "batch/v1",
  "metadata": {
    "name": "train-slice-1",
    "namespace": "default",
    "uid": "7f0c9a54-0a4e-4a7e-8a52-36d4a86f8b21",
    "resourceVersion": "815",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:05Z",
    "deletionTimestamp": "2026-01-01T01:00:00Z",
    "deletionGracePeriodSeconds": 0,
    "finalizers": ["foregroundDeletion"],
    "labels": {"jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/restart-attempt": "2"},
    "annotations": {
      "alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool",
      "jobset.sigs.k8s.io/job-index": "1",
      "tpuslice.dev/slice-hosts": "4",
      "batch.kubernetes.io/job-tracking": "",
      "kubectl.kubernetes.io/last-applied-configuration": "{}"},
    "ownerReferences": [
      {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "uid": "u1", "controller": true,
       "blockOwnerDeletion": true}],
    "managedFields": [{"manager": "x", "fieldsV1": {"f:spec": {"f:suspend": {}}}}]
  },
  "spec": {
    "parallelism": 4,
    "completions": 8,
    "completionMode": "Indexed",
    "backoffLimit": 0,
    "template": {
      "metadata": {
        "creationTimestamp": null,
        "labels": {"jobset.sigs.k8s.io/jobset-name": "train", "app": "tr\u00e4in"},
        "annotations": {"example.com/note": "[{]}\\\""}
      },
      "spec": {
        "containers": [{"name": "worker", "image": "jax:1", "resources": {"limits": {"google.com/tpu": "4"}}}],
        "restartPolicy": "Never",
        "nodeSelector": {"cloud.google.com/gke-tpu-topology": "4x4"},
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "tolerationSeconds": 30}],
        "schedulingGates": [{"name": "tpuslice.dev/slice"}],
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t"}]}},
        "subdomain": "train"
      }
    },
    "suspend": true
  },
  "status": {
    "active": 1,
    "ready": 2,
    "succeeded": 3,
    "failed": 4,
    "terminating": 5,
    "startTime": "2026-01-01T00:00:07Z",
    "uncountedTerminatedPods": {},
    "conditions": [
      {"type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed",
       "lastProbeTime": "2026-01-01T00:00:07Z", "lastTransitionTime": "2026-01-01T00:00:07Z"},
      {"type": "AlphaCondition", "status": "True"},
      {"type": "FailureTarget", "status": "True", "reason": "PodFailurePolicy",
       "message": "Container worker for pod default/train-slice-1-0 failed with exit code 42",
       "lastTransitionTime": "2026-01-01T00:10:00Z"}]
  }
})";

}  // namespace tpuslice
