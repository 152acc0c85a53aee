// What admission does for RayJobs and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::rayjob {

extern const rules::WorkloadKind kAdmission;

}  // namespace tpuslice::rayjob
