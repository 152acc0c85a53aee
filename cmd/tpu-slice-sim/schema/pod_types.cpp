#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

// NOLINTNEXTLINE(readability-function-size): a table
std::string_view pod_types() {
  return R"(
Pod
  spec PodSpec  What should run.
  status PodStatus  What runs; written by the kubelet.
PodTemplateSpec
  metadata ObjectMeta
  spec PodSpec
PodSpec
  volumes []any @name ~retain  Volumes that containers can mount.
  initContainers []Container @name  Run to completion, in order, before the containers start.
  containers* []Container @name  Containers of the pod; at least one.
  restartPolicy string  Always, OnFailure or Never.
  terminationGracePeriodSeconds long  How long containers may take to stop.
  activeDeadlineSeconds long  How long the pod may be active.
  dnsPolicy string  ClusterFirst, ClusterFirstWithHostNet, Default or None.
  nodeSelector {string} ~atomic  Labels that the node must have.
  serviceAccountName string  Account the pod runs as.
  serviceAccount string  Deprecated alias of serviceAccountName.
  automountServiceAccountToken bool
  nodeName string  The node the pod is bound to.
  hostNetwork bool  Use the network of the node.
  hostPID bool
  hostIPC bool
  shareProcessNamespace bool
  securityContext any
  imagePullSecrets []LocalObjectReference @name
  hostname string  Host name of the pod.
  subdomain string  Makes the full name <hostname>.<subdomain>.<namespace>.svc.<cluster domain>.
  affinity Affinity  Rules of where the pod may be scheduled.
  schedulerName string  The scheduler that binds the pod.
  tolerations []Toleration  Taints the pod tolerates.
  hostAliases []HostAlias @ip
  priorityClassName string
  priority int
  dnsConfig any
  readinessGates []PodReadinessGate
  runtimeClassName string
  enableServiceLinks bool
  preemptionPolicy string
  overhead {quantity}
  topologySpreadConstraints []TopologySpreadConstraint @topologyKey/topologyKey,whenUnsatisfiable
  setHostnameAsFQDN bool
  os any
  hostUsers bool
  schedulingGates []PodSchedulingGate @name  The pod is not scheduled while there is one.
  resourceClaims []any
  resources ResourceRequirements
PodSchedulingGate
  name* string
PodReadinessGate
  conditionType* string
HostAlias
  ip* string
  hostnames []string
Toleration
  key string
  operator string  Equal or Exists.
  value string
  effect string  NoSchedule, PreferNoSchedule or NoExecute; empty for all.
  tolerationSeconds long
TopologySpreadConstraint
  maxSkew* int
  topologyKey* string
  whenUnsatisfiable* string
  labelSelector LabelSelector
  minDomains int
  nodeAffinityPolicy string
  nodeTaintsPolicy string
  matchLabelKeys []string
Affinity
  nodeAffinity NodeAffinity
  podAffinity PodAffinity
  podAntiAffinity PodAffinity
NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
NodeSelector
  nodeSelectorTerms* []NodeSelectorTerm
NodeSelectorTerm
  matchExpressions []NodeSelectorRequirement
  matchFields []NodeSelectorRequirement
NodeSelectorRequirement
  key* string
  operator* string
  values []string
PreferredSchedulingTerm
  weight* int
  preference* NodeSelectorTerm
PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
WeightedPodAffinityTerm
  weight* int
  podAffinityTerm* PodAffinityTerm
PodAffinityTerm
  labelSelector LabelSelector
  namespaces []string
  topologyKey string
  namespaceSelector LabelSelector
  matchLabelKeys []string
  mismatchLabelKeys []string
Container
  name* string  Name of the container, unique in the pod.
  image string
  command []string
  args []string
  workingDir string
  ports []ContainerPort @containerPort/containerPort,protocol
  envFrom []any
  env []EnvVar @name
  resources ResourceRequirements
  resizePolicy []any
  restartPolicy string
  restartPolicyRules []any
  volumeMounts []VolumeMount @mountPath
  volumeDevices []VolumeDevice @devicePath
  livenessProbe any
  readinessProbe any
  startupProbe any
  lifecycle any
  terminationMessagePath string
  terminationMessagePolicy string
  imagePullPolicy string
  securityContext any
  stdin bool
  stdinOnce bool
  tty bool
ContainerPort
  name string
  hostPort int
  containerPort* int
  protocol string =TCP
  hostIP string
EnvVar
  name* string
  value string
  valueFrom any
ResourceRequirements
  limits {quantity}  Most that may be used.
  requests {quantity}  What is set aside; limits where absent.
  claims []ResourceClaim @name
ResourceClaim
  name* string
  request string
VolumeMount
  name* string
  readOnly bool
  recursiveReadOnly string
  mountPath* string
  subPath string
  mountPropagation string
  subPathExpr string
VolumeDevice
  name* string
  devicePath* string
PodStatus
  observedGeneration long
  phase string  Pending, Running, Succeeded, Failed or Unknown.
  conditions []PodCondition @type
  message string
  reason string
  nominatedNodeName string
  hostIP string
  hostIPs []HostIP
  podIP string
  podIPs []PodIP @ip
  startTime time
  initContainerStatuses []ContainerStatus
  containerStatuses []ContainerStatus
  qosClass string
  ephemeralContainerStatuses []ContainerStatus
  resize string
  resourceClaimStatuses []any
PodCondition
  type* string
  status* string
  observedGeneration long
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
HostIP
  ip* string
PodIP
  ip* string
ContainerStatus
  name* string
  state ContainerState
  lastState ContainerState
  ready bool
  restartCount int
  image string
  imageID string
  containerID string
  started bool
  allocatedResources {quantity}
  resources ResourceRequirements
  volumeMounts []any
  user any
  allocatedResourcesStatus []any
ContainerState
  waiting ContainerStateWaiting
  running ContainerStateRunning
  terminated ContainerStateTerminated
ContainerStateWaiting
  reason string
  message string
ContainerStateRunning
  startedAt time
ContainerStateTerminated
  exitCode int
  signal int
  reason string
  message string
  startedAt time
  finishedAt time
  containerID string
)";
}

}  // namespace tpuslice::sim
