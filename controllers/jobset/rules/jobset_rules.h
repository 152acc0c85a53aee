// What admission does for JobSets and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::jobset {

extern const rules::WorkloadKind kAdmission;

/// Only this kind.
[[nodiscard]] rules::WorkloadKinds own_kinds();

}  // namespace tpuslice::jobset
