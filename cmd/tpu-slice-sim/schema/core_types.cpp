#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

// NOLINTNEXTLINE(readability-function-size): a table
std::string_view core_types() {
  return R"(
Namespace
  spec NamespaceSpec
  status NamespaceStatus
NamespaceSpec
  finalizers []string
NamespaceStatus
  phase string
  conditions []Condition @type
Node
  spec NodeSpec
  status NodeStatus
NodeSpec
  podCIDR string
  podCIDRs []string !set
  providerID string
  unschedulable bool  Whether new pods are kept away.
  taints []Taint
  configSource any
  externalID string
Taint
  key* string
  value string
  effect* string
  timeAdded time
NodeStatus
  capacity {quantity}
  allocatable {quantity}
  phase string
  conditions []NodeCondition @type
  addresses []NodeAddress @type
  daemonEndpoints any
  nodeInfo any
  images []NodeImage
  volumesInUse []string
  volumesAttached []any
  config any
  runtimeHandlers []any
  features any
  declaredFeatures []string
NodeImage
  names []string
  sizeBytes long
NodeCondition
  type* string
  status* string
  lastHeartbeatTime time
  lastTransitionTime time
  reason string
  message string
NodeAddress
  type* string
  address* string
Service
  spec ServiceSpec
  status ServiceStatus
ServiceSpec
  ports []ServicePort @port/port,protocol
  selector {string} ~atomic  Labels of the pods the service sends to.
  clusterIP string  Virtual address; None for a headless service.
  clusterIPs []string
  type string  ClusterIP, NodePort, LoadBalancer or ExternalName.
  externalIPs []string
  sessionAffinity string
  loadBalancerIP string
  loadBalancerSourceRanges []string
  externalName string
  externalTrafficPolicy string
  healthCheckNodePort int
  publishNotReadyAddresses bool  Whether DNS names pods that are not ready.
  sessionAffinityConfig any
  ipFamilies []string
  ipFamilyPolicy string
  allocateLoadBalancerNodePorts bool
  loadBalancerClass string
  internalTrafficPolicy string
  trafficDistribution string
ServicePort
  name string
  protocol string =TCP
  appProtocol string
  port* int
  targetPort intstr
  nodePort int
ServiceStatus
  loadBalancer LoadBalancerStatus
  conditions []Condition @type
LoadBalancerStatus
  ingress []any
EndpointPort
  name string
  port int
  protocol string
  appProtocol string
EndpointSlice
  addressType string
  endpoints []SliceEndpoint
  ports []EndpointPort
SliceEndpoint
  addresses* []string
  conditions EndpointConditions
  hostname string
  targetRef ObjectReference ~atomic
  deprecatedTopology {string}
  nodeName string
  zone string
  hints any
EndpointConditions
  ready bool
  serving bool
  terminating bool
ConfigMap
  data {string}
  binaryData {bytes}
  immutable bool
Secret
  data {bytes}
  stringData {string}
  type string
  immutable bool
Ingress
  spec IngressSpec
  status any
IngressSpec
  ingressClassName string
  defaultBackend IngressBackend
  tls []IngressTLS
  rules []IngressRule
IngressTLS
  hosts []string
  secretName string
IngressRule
  host string
  http HTTPIngressRuleValue
HTTPIngressRuleValue
  paths* []HTTPIngressPath
HTTPIngressPath
  path string
  pathType* string
  backend* IngressBackend
IngressBackend
  service IngressServiceBackend
  resource any
IngressServiceBackend
  name* string
  port ServiceBackendPort
ServiceBackendPort
  name string
  number int
ServiceAccount
  secrets []ObjectReference @name
  imagePullSecrets []LocalObjectReference
  automountServiceAccountToken bool
CoreEvent
  involvedObject* ObjectReference
  reason string
  message string
  source EventSource
  firstTimestamp time
  lastTimestamp time
  count int
  type string
  eventTime time
  series EventSeries
  action string
  related ObjectReference
  reportingComponent string
  reportingInstance string
EventSource
  component string
  host string
EventSeries
  count int
  lastObservedTime time
Event
  eventTime time
  series EventSeries
  reportingController string
  reportingInstance string
  action string
  reason string
  regarding ObjectReference
  related ObjectReference
  note string
  type string
  deprecatedSource EventSource
  deprecatedFirstTimestamp time
  deprecatedLastTimestamp time
  deprecatedCount int
Lease
  spec LeaseSpec
LeaseSpec
  holderIdentity string
  leaseDurationSeconds int
  acquireTime time
  renewTime time
  leaseTransitions int
  strategy string
  preferredHolder string
PriorityClass
  value* int
  globalDefault bool
  description string
  preemptionPolicy string
)";
}

}  // namespace tpuslice::sim
