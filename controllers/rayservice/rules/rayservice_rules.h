// What admission does for RayServices and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::rayservice {

extern const rules::WorkloadKind kAdmission;

}  // namespace tpuslice::rayservice
