// TPU identity of the pods of RayClusters, ours or KubeRay's.
#pragma once

#include <optional>

#include "tpu/identity.h"

namespace tpuslice::raycluster {

/// Reads the labels of KubeRay's multi-host indexing. The rest, and the errors, as tpu/identity.h says; a pod that has
/// an index without accelerator or topology in its node selector is an error, as its indexes imply a slice.
/// Source: KubeRay's multi-host indexing labels; hosts as kuberay-tpu-webhook counts them.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::raycluster
