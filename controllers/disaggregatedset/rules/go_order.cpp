#include "controllers/disaggregatedset/rules/go_order.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "api/types/json_text.h"

namespace tpuslice::disaggregatedset {
namespace {

struct GoStruct {
  std::string_view name;
  std::string_view fields;  ///< "ports:ContainerPort": a struct of this table, or pointers, lists or maps of it.
};

/// The structs whose fields, or those of a struct in them, are not in the order of the alphabet. Structs with equal
/// fields are one. Sorted by name.
/// Source: k8s.io/api v0.36.3 (core/v1, meta/v1) and leaderworkerset.x-k8s.io/v1 of lws v0.10.0.
constexpr auto kStructs = std::to_array<GoStruct>({
    {"AWSElasticBlockStoreVolumeSource", "volumeID fsType partition readOnly"},
    {"Affinity", "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAffinity"},
    {"AzureDiskVolumeSource", "diskName diskURI cachingMode fsType readOnly kind"},
    {"AzureFileVolumeSource", "secretName shareName readOnly"},
    {"CSIVolumeSource", "driver readOnly fsType volumeAttributes nodePublishSecretRef"},
    {"CephFSVolumeSource", "monitors path user secretFile secretRef readOnly"},
    {"CinderVolumeSource", "volumeID fsType readOnly secretRef"},
    {"ClusterTrustBundleProjection", "name signerName labelSelector:LabelSelector optional path"},
    {"ConfigMapKeySelector", "name key optional"},
    {"ConfigMapVolumeSource", "name items:KeyToPath defaultMode optional"},
    {"Container",
     "name image command args workingDir ports:ContainerPort envFrom:EnvFromSource env:EnvVar "
     "resources:ResourceRequirements resizePolicy restartPolicy restartPolicyRules "
     "volumeMounts:VolumeMount volumeDevices:VolumeDevice livenessProbe:Probe readinessProbe:Probe "
     "startupProbe:Probe lifecycle:Lifecycle terminationMessagePath terminationMessagePolicy "
     "imagePullPolicy securityContext:SecurityContext stdin stdinOnce tty"},
    {"ContainerPort", "name hostPort containerPort protocol hostIP"},
    {"DownwardAPIProjection", "items:DownwardAPIVolumeFile"},
    {"DownwardAPIVolumeFile", "path fieldRef resourceFieldRef:ResourceFieldSelector mode"},
    {"DownwardAPIVolumeSource", "items:DownwardAPIVolumeFile defaultMode"},
    {"EnvFromSource", "prefix configMapRef secretRef"},
    {"EnvVar", "name value valueFrom:EnvVarSource"},
    {"EnvVarSource",
     "fieldRef resourceFieldRef:ResourceFieldSelector configMapKeyRef:ConfigMapKeySelector "
     "secretKeyRef:ConfigMapKeySelector fileKeyRef:FileKeySelector"},
    {"EphemeralContainer",
     "name image command args workingDir ports:ContainerPort envFrom:EnvFromSource env:EnvVar "
     "resources:ResourceRequirements resizePolicy restartPolicy restartPolicyRules "
     "volumeMounts:VolumeMount volumeDevices:VolumeDevice livenessProbe:Probe readinessProbe:Probe "
     "startupProbe:Probe lifecycle:Lifecycle terminationMessagePath terminationMessagePolicy "
     "imagePullPolicy securityContext:SecurityContext stdin stdinOnce tty targetContainerName"},
    {"EphemeralVolumeSource", "volumeClaimTemplate:PersistentVolumeClaimTemplate"},
    {"FCVolumeSource", "targetWWNs lun fsType readOnly wwids"},
    {"FileKeySelector", "volumeName path key optional"},
    {"FlexVolumeSource", "driver fsType secretRef readOnly options"},
    {"GCEPersistentDiskVolumeSource", "pdName fsType partition readOnly"},
    {"GitRepoVolumeSource", "repository revision directory"},
    {"HTTPGetAction", "path port host scheme httpHeaders"},
    {"HostAlias", "ip hostnames"},
    {"ISCSIVolumeSource",
     "targetPortal iqn lun iscsiInterface fsType readOnly portals chapAuthDiscovery chapAuthSession "
     "secretRef initiatorName"},
    {"ImageVolumeSource", "reference pullPolicy"},
    {"KeyToPath", "key path mode"},
    {"LabelSelector", "matchLabels matchExpressions"},
    {"LeaderWorkerTemplate",
     "leaderTemplate:PodTemplateSpec workerTemplate:PodTemplateSpec size restartPolicy subGroupPolicy "
     "volumeClaimTemplates:PersistentVolumeClaim persistentVolumeClaimRetentionPolicy"},
    {"Lifecycle", "postStart:LifecycleHandler preStop:LifecycleHandler stopSignal"},
    {"LifecycleHandler", "exec httpGet:HTTPGetAction tcpSocket:TCPSocketAction sleep"},
    {"ModifyVolumeStatus", "targetVolumeAttributesClassName status"},
    {"NFSVolumeSource", "server path readOnly"},
    {"NodeAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution "
     "preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm"},
    {"ObjectMeta",
     "name generateName namespace selfLink uid resourceVersion generation creationTimestamp "
     "deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences:OwnerReference "
     "finalizers managedFields"},
    {"OwnerReference", "apiVersion kind name uid controller blockOwnerDeletion"},
    {"PersistentVolumeClaim",
     "kind apiVersion metadata:ObjectMeta spec:PersistentVolumeClaimSpec "
     "status:PersistentVolumeClaimStatus"},
    {"PersistentVolumeClaimCondition", "type status lastProbeTime lastTransitionTime reason message"},
    {"PersistentVolumeClaimSpec",
     "accessModes selector:LabelSelector resources volumeName storageClassName volumeMode dataSource "
     "dataSourceRef volumeAttributesClassName"},
    {"PersistentVolumeClaimStatus",
     "phase accessModes capacity conditions:PersistentVolumeClaimCondition allocatedResources "
     "allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus:ModifyVolumeStatus"},
    {"PersistentVolumeClaimTemplate", "metadata:ObjectMeta spec:PersistentVolumeClaimSpec"},
    {"PhotonPersistentDiskVolumeSource", "pdID fsType"},
    {"PodAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm"},
    {"PodAffinityTerm",
     "labelSelector:LabelSelector namespaces topologyKey namespaceSelector:LabelSelector matchLabelKeys "
     "mismatchLabelKeys"},
    {"PodCertificateProjection",
     "signerName keyType maxExpirationSeconds credentialBundlePath keyPath certificateChainPath "
     "userAnnotations"},
    {"PodDNSConfig", "nameservers searches options"},
    {"PodSecurityContext",
     "seLinuxOptions:SELinuxOptions windowsOptions:WindowsSecurityContextOptions runAsUser runAsGroup "
     "runAsNonRoot supplementalGroups supplementalGroupsPolicy fsGroup sysctls fsGroupChangePolicy "
     "seccompProfile:SeccompProfile appArmorProfile:SeccompProfile seLinuxChangePolicy"},
    {"PodSpec",
     "volumes:Volume initContainers:Container containers:Container ephemeralContainers:EphemeralContainer "
     "restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector "
     "serviceAccountName serviceAccount automountServiceAccountToken nodeName hostNetwork hostPID hostIPC "
     "shareProcessNamespace securityContext:PodSecurityContext imagePullSecrets hostname subdomain "
     "affinity:Affinity schedulerName tolerations:Toleration hostAliases:HostAlias priorityClassName "
     "priority dnsConfig:PodDNSConfig readinessGates runtimeClassName enableServiceLinks preemptionPolicy "
     "overhead topologySpreadConstraints:TopologySpreadConstraint setHostnameAsFQDN os hostUsers "
     "schedulingGates resourceClaims resources:ResourceRequirements hostnameOverride schedulingGroup"},
    {"PodTemplateSpec", "metadata:ObjectMeta spec:PodSpec"},
    {"PortworxVolumeSource", "volumeID fsType readOnly"},
    {"PreferredSchedulingTerm", "weight preference"},
    {"Probe",
     "exec httpGet:HTTPGetAction tcpSocket:TCPSocketAction grpc initialDelaySeconds timeoutSeconds "
     "periodSeconds successThreshold failureThreshold terminationGracePeriodSeconds"},
    {"ProjectedVolumeSource", "sources:VolumeProjection defaultMode"},
    {"QuobyteVolumeSource", "registry volume readOnly user group tenant"},
    {"RBDVolumeSource", "monitors image fsType pool user keyring secretRef readOnly"},
    {"ResourceFieldSelector", "containerName resource divisor"},
    {"ResourceRequirements", "limits requests claims"},
    {"SELinuxOptions", "user role type level"},
    {"ScaleIOVolumeSource",
     "gateway system secretRef sslEnabled protectionDomain storagePool storageMode volumeName fsType "
     "readOnly"},
    {"SeccompProfile", "type localhostProfile"},
    {"SecretProjection", "name items:KeyToPath optional"},
    {"SecretVolumeSource", "secretName items:KeyToPath defaultMode optional"},
    {"SecurityContext",
     "capabilities privileged seLinuxOptions:SELinuxOptions windowsOptions:WindowsSecurityContextOptions "
     "runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation procMount "
     "seccompProfile:SeccompProfile appArmorProfile:SeccompProfile"},
    {"StorageOSVolumeSource", "volumeName volumeNamespace fsType readOnly secretRef"},
    {"TCPSocketAction", "port host"},
    {"Toleration", "key operator value effect tolerationSeconds"},
    {"TopologySpreadConstraint",
     "maxSkew topologyKey whenUnsatisfiable labelSelector:LabelSelector minDomains nodeAffinityPolicy "
     "nodeTaintsPolicy matchLabelKeys"},
    {"Volume",
     "name hostPath emptyDir gcePersistentDisk:GCEPersistentDiskVolumeSource "
     "awsElasticBlockStore:AWSElasticBlockStoreVolumeSource gitRepo:GitRepoVolumeSource "
     "secret:SecretVolumeSource nfs:NFSVolumeSource iscsi:ISCSIVolumeSource glusterfs "
     "persistentVolumeClaim rbd:RBDVolumeSource flexVolume:FlexVolumeSource cinder:CinderVolumeSource "
     "cephfs:CephFSVolumeSource flocker downwardAPI:DownwardAPIVolumeSource fc:FCVolumeSource "
     "azureFile:AzureFileVolumeSource configMap:ConfigMapVolumeSource "
     "vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource "
     "azureDisk:AzureDiskVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource "
     "projected:ProjectedVolumeSource portworxVolume:PortworxVolumeSource scaleIO:ScaleIOVolumeSource "
     "storageos:StorageOSVolumeSource csi:CSIVolumeSource ephemeral:EphemeralVolumeSource "
     "image:ImageVolumeSource"},
    {"VolumeDevice", "name devicePath"},
    {"VolumeMount", "name readOnly recursiveReadOnly mountPath subPath mountPropagation subPathExpr"},
    {"VolumeProjection",
     "secret:SecretProjection downwardAPI:DownwardAPIProjection configMap:SecretProjection "
     "serviceAccountToken clusterTrustBundle:ClusterTrustBundleProjection "
     "podCertificate:PodCertificateProjection"},
    {"VsphereVirtualDiskVolumeSource", "volumePath fsType storagePolicyName storagePolicyID"},
    {"WeightedPodAffinityTerm", "weight podAffinityTerm:PodAffinityTerm"},
    {"WindowsSecurityContextOptions", "gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess"},
});
static_assert(std::ranges::is_sorted(kStructs, {}, &GoStruct::name));

/// Null for a struct that the table lacks, and for what is no struct.
const GoStruct* find_struct(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kStructs, name, {}, &GoStruct::name);
  return found != kStructs.end() && found->name == name ? found : nullptr;
}

/// Calls `visit(field, struct)` for each field in order.
template <typename Visit>
void each_field(std::string_view fields, const Visit& visit) {
  while (!fields.empty()) {
    const std::string_view word = fields.substr(0, fields.find(' '));
    fields.remove_prefix(std::min(fields.size(), word.size() + 1));
    const std::size_t colon = word.find(':');
    visit(word.substr(0, colon), colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1));
  }
}

void print(const Json& value, const GoStruct* as, std::string& out);

void print_member(const std::string& name, const Json& value, std::string_view as, std::string& out) {
  if (out.back() != '{') out += ',';
  out += print_go_json(name);
  out += ':';
  print(value, find_struct(as), out);
}

void print_struct(const Json& object, const GoStruct& as, std::string& out) {
  std::vector<std::string_view> known;
  out += '{';
  each_field(as.fields, [&](std::string_view field, std::string_view type) {
    known.push_back(field);
    const auto found = object.find(field);
    if (found != object.end()) print_member(found.key(), *found, type, out);
  });
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, std::string_view(key)) == known.end()) print_member(key, value, {}, out);
  }
  out += '}';
}

void print(const Json& value, const GoStruct* as, std::string& out) {
  if (as == nullptr || !value.is_structured()) {
    out += print_go_json(value);
  } else if (value.is_object()) {
    print_struct(value, *as, out);
  } else {
    out += '[';
    for (const Json& element : value) {
      if (out.back() != '[') out += ',';
      print(element, as, out);
    }
    out += ']';
  }
}

}  // namespace

std::string print_group_template(const Json& groups) {
  std::string out;
  print(groups, find_struct("LeaderWorkerTemplate"), out);
  return out;
}

}  // namespace tpuslice::disaggregatedset
