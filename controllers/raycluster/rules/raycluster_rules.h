// What admission does for RayClusters and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::raycluster {

extern const rules::WorkloadKind kAdmission;

/// Only this kind.
[[nodiscard]] rules::WorkloadKinds own_kinds();

}  // namespace tpuslice::raycluster
