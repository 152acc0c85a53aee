// What admission does for Fleets and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::example {

extern const rules::WorkloadKind kAdmission;

/// Only this kind.
[[nodiscard]] rules::WorkloadKinds own_kinds();

}  // namespace tpuslice::example
