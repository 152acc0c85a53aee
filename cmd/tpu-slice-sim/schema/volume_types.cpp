#include "cmd/tpu-slice-sim/schema/type_table.h"

namespace tpuslice::sim {

std::string_view volume_types() {
  return R"(
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
