// The environment that GKE's device plugin gives a TPU container when the kubelet allocates its chips, from the labels
// of the node and the number of chips.
//
// Never injected on GKE, where a pod's own value would override the device plugin's. It is for clusters whose device
// plugin sets none, and for validation.
// Source of every formula: ai-on-gke/tpu-device-plugin pkg/tpu/util/util.go, the same in dra-driver-google-tpu.
#pragma once

#include <string_view>
#include <vector>

#include "tpu/catalog.h"
#include "tpu/env_var.h"

namespace tpuslice::tpu {

struct DeviceRequest {
  std::string_view accelerator;     ///< Label cloud.google.com/gke-tpu-accelerator.
  std::string_view topology;        ///< Label cloud.google.com/gke-tpu-topology.
  std::string_view annotation;      ///< Annotation of the pod, cloud.google.com/gke-tpu-slice-topology; may be empty.
  std::string_view ici_resiliency;  ///< Label cloud.google.com/gke-tpu-ici-resiliency; may be empty.
  std::int64_t node_chips = 0;
  std::int64_t container_chips = 0;
};

/// TPU_TOPOLOGY, TPU_ACCELERATOR_TYPE, the bounds, wrap and alt under both their names, ENABLE_ICI_RESILIENCY,
/// TPU_RUNTIME_METRICS_PORTS, TPU_SKIP_MDS_QUERY and, for a slice of one host before tpu7x, TPU_WORKER_ID=0 and
/// TPU_WORKER_HOSTNAMES=localhost.
///
/// Errors: InvalidArgument for labels that are missing, unknown or without an accelerator type, and for a number of
/// chips that no container may have.
[[nodiscard]] Result<std::vector<EnvVar>> device_env(const DeviceRequest& request);

}  // namespace tpuslice::tpu
