// What admission does for RayCronJobs. They have no pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::raycronjob {

extern const rules::WorkloadKind kAdmission;

}  // namespace tpuslice::raycronjob
