#include "api/sim/schema/type_table.h"

namespace tpuslice::sim {

std::string_view volume_types() {
  return R"(
Volume
  name* string
  hostPath HostPathVolume
  emptyDir EmptyDirVolume
  secret SecretVolume
  configMap ConfigMapVolume
  persistentVolumeClaim ClaimVolume
  projected ProjectedVolume
  downwardAPI DownwardVolume
  nfs NFSVolume
  csi CSIVolume
  ephemeral EphemeralVolume
  image ImageVolume
  gcePersistentDisk any
  awsElasticBlockStore any
  gitRepo any
  iscsi any
  glusterfs any
  rbd any
  flexVolume any
  cinder any
  cephfs any
  flocker any
  fc any
  azureFile any
  azureDisk any
  vsphereVolume any
  quobyte any
  photonPersistentDisk any
  portworxVolume any
  scaleIO any
  storageos any
HostPathVolume
  path* string
  type string
EmptyDirVolume
  medium string
  sizeLimit quantity
SecretVolume
  secretName string
  items []KeyToPath
  defaultMode int
  optional bool
ConfigMapVolume
  name string
  items []KeyToPath
  defaultMode int
  optional bool
KeyToPath
  key* string
  path* string
  mode int
ClaimVolume
  claimName* string
  readOnly bool
ProjectedVolume
  sources []VolumeProjection
  defaultMode int
VolumeProjection
  secret SecretProjection
  configMap SecretProjection
  downwardAPI DownwardProjection
  serviceAccountToken TokenProjection
  clusterTrustBundle any
  podCertificate any
SecretProjection
  name string
  items []KeyToPath
  optional bool
DownwardProjection
  items []DownwardFile
TokenProjection
  audience string
  expirationSeconds long
  path* string
DownwardVolume
  items []DownwardFile
  defaultMode int
DownwardFile
  path* string
  fieldRef FieldRef ~atomic
  resourceFieldRef ResourceFieldRef ~atomic
  mode int
NFSVolume
  server* string
  path* string
  readOnly bool
CSIVolume
  driver* string
  readOnly bool
  fsType string
  volumeAttributes {string}
  nodePublishSecretRef LocalObjectReference ~atomic
EphemeralVolume
  volumeClaimTemplate ClaimTemplate
ClaimTemplate
  metadata ObjectMeta
  spec* PersistentVolumeClaimSpec
ImageVolume
  reference string
  pullPolicy string
PersistentVolumeClaim
  spec PersistentVolumeClaimSpec
  status any
EmbeddedClaim
  apiVersion string
  kind string
  metadata ObjectMeta
  spec PersistentVolumeClaimSpec
  status any
PersistentVolumeClaimSpec
  accessModes []string
  selector LabelSelector ~atomic
  resources VolumeResources
  volumeName string
  storageClassName string
  volumeMode string
  dataSource any ~atomic
  dataSourceRef any
  volumeAttributesClassName string
VolumeResources
  limits {quantity}
  requests {quantity}
)";
}

}  // namespace tpuslice::sim
