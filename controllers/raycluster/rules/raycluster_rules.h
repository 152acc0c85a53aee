// What admission does for RayClusters and their pods.
#pragma once

#include <optional>

#include "tpu/identity.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::raycluster {

extern const rules::WorkloadKind kAdmission;

/// Only this kind.
[[nodiscard]] rules::WorkloadKinds own_kinds();

/// Reads the labels of KubeRay's multi-host indexing. The rest, and the errors, as tpu/identity.h says; a pod that has
/// an index without accelerator or topology in its node selector is an error, as its indexes imply a slice.
/// Source: KubeRay's multi-host indexing labels; hosts as kuberay-tpu-webhook counts them.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod);

}  // namespace tpuslice::raycluster
