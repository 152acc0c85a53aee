#include "api/sim/schema/type_table.h"

namespace tpuslice::sim {

std::string_view workload_types() {
  return R"(
Job
  spec JobSpec
  status JobStatus
JobSpec
  parallelism int  Most pods that run at a time.
  completions int  Pods that must succeed.
  activeDeadlineSeconds long
  podFailurePolicy PodFailurePolicy
  successPolicy SuccessPolicy
  backoffLimit int  Failures after which the job fails.
  backoffLimitPerIndex int
  maxFailedIndexes int
  selector LabelSelector ~atomic
  manualSelector bool
  template* PodTemplateSpec
  ttlSecondsAfterFinished int
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
CronJob
  spec CronJobSpec
  status CronJobStatus
CronJobSpec
  schedule* string
  timeZone string
  startingDeadlineSeconds long
  concurrencyPolicy string
  suspend bool
  jobTemplate* JobTemplateSpec
  successfulJobsHistoryLimit int
  failedJobsHistoryLimit int
JobTemplateSpec
  metadata ObjectMeta
  spec JobSpec
CronJobStatus
  active []ObjectReference
  lastScheduleTime time
  lastSuccessfulTime time
StatefulSet
  spec StatefulSetSpec
  status StatefulSetStatus
StatefulSetSpec
  replicas int
  selector* LabelSelector ~atomic
  template* PodTemplateSpec
  volumeClaimTemplates []EmbeddedClaim
  serviceName string
  podManagementPolicy string
  updateStrategy StatefulSetUpdateStrategy
  revisionHistoryLimit int
  minReadySeconds int
  persistentVolumeClaimRetentionPolicy ClaimRetentionPolicy
  ordinals StatefulSetOrdinals
StatefulSetUpdateStrategy
  type string
  rollingUpdate StatefulSetRollingUpdate
StatefulSetRollingUpdate
  partition int
  maxUnavailable intstr
ClaimRetentionPolicy
  whenDeleted string
  whenScaled string
StatefulSetOrdinals
  start int
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
Deployment
  spec DeploymentSpec
  status DeploymentStatus
DeploymentSpec
  replicas int
  selector* LabelSelector ~atomic
  template* PodTemplateSpec
  strategy DeploymentStrategy ~retain
  minReadySeconds int
  revisionHistoryLimit int
  paused bool
  progressDeadlineSeconds int
DeploymentStrategy
  type string
  rollingUpdate RollingUpdate
RollingUpdate
  maxUnavailable intstr
  maxSurge intstr
DeploymentStatus
  observedGeneration long
  replicas int
  updatedReplicas int
  readyReplicas int
  availableReplicas int
  unavailableReplicas int
  terminatingReplicas int
  conditions []WorkloadCondition @type
  collisionCount int
ReplicaSet
  spec ReplicaSetSpec
  status ReplicaSetStatus
ReplicaSetSpec
  replicas int
  minReadySeconds int
  selector* LabelSelector ~atomic
  template PodTemplateSpec
ReplicaSetStatus
  replicas int
  fullyLabeledReplicas int
  readyReplicas int
  availableReplicas int
  terminatingReplicas int
  observedGeneration long
  conditions []WorkloadCondition @type
DaemonSet
  spec DaemonSetSpec
  status any
DaemonSetSpec
  selector* LabelSelector ~atomic
  template* PodTemplateSpec
  updateStrategy DaemonSetUpdateStrategy
  minReadySeconds int
  revisionHistoryLimit int
DaemonSetUpdateStrategy
  type string
  rollingUpdate RollingUpdate
ControllerRevision
  data value
  revision* long
)";
}

}  // namespace tpuslice::sim
