#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

// NOLINTNEXTLINE(readability-function-size): a table
std::string_view workload_types() {
  return R"(
Job
  spec JobSpec
  status JobStatus
JobSpec
  parallelism count  Most pods that run at a time.
  completions count  Pods that must succeed.
  activeDeadlineSeconds long
  podFailurePolicy PodFailurePolicy
  successPolicy SuccessPolicy
  backoffLimit count  Failures after which the job fails.
  backoffLimitPerIndex count
  maxFailedIndexes count
  selector LabelSelector ~atomic
  manualSelector bool
  template* PodTemplateSpec
  ttlSecondsAfterFinished count
  completionMode string  NonIndexed or Indexed.
  suspend bool  Whether no pods are to run.
  podReplacementPolicy string
  managedBy string
PodFailurePolicy
  rules* []PodFailurePolicyRule
PodFailurePolicyRule
  action* string
  onExitCodes OnExitCodes
  onPodConditions []OnPodCondition
OnExitCodes
  containerName string
  operator* string
  values* []int !set
OnPodCondition
  type* string
  status string
SuccessPolicy
  rules* []SuccessPolicyRule
SuccessPolicyRule
  succeededIndexes string
  succeededCount int
JobStatus
  conditions []JobCondition @type ~atomic
  startTime time
  completionTime time
  active int
  succeeded int
  failed int
  terminating int
  completedIndexes string
  failedIndexes string
  uncountedTerminatedPods any
  ready int
JobCondition
  type* string
  status* string
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
StatefulSet
  spec StatefulSetSpec
  status StatefulSetStatus
StatefulSetSpec
  replicas count
  selector* LabelSelector ~atomic
  template* PodTemplateSpec
  volumeClaimTemplates []EmbeddedClaim
  serviceName string
  podManagementPolicy string
  updateStrategy StatefulSetUpdateStrategy
  revisionHistoryLimit int
  minReadySeconds count
  persistentVolumeClaimRetentionPolicy ClaimRetentionPolicy
  ordinals StatefulSetOrdinals
StatefulSetUpdateStrategy
  type string
  rollingUpdate StatefulSetRollingUpdate
StatefulSetRollingUpdate
  partition count
  maxUnavailable intstr
ClaimRetentionPolicy
  whenDeleted string
  whenScaled string
StatefulSetOrdinals
  start count
StatefulSetStatus
  observedGeneration long
  replicas int
  readyReplicas int
  currentReplicas int
  updatedReplicas int
  currentRevision string
  updateRevision string
  collisionCount int
  conditions []WorkloadCondition @type
  availableReplicas int
WorkloadCondition
  type* string
  status* string
  lastUpdateTime time
  lastTransitionTime time
  reason string
  message string
PodTemplate
  template PodTemplateSpec
ControllerRevision
  data value
  revision* long
)";
}

}  // namespace tpuslice::sim
