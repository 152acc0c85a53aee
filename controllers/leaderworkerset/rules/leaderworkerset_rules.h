// What admission does for LeaderWorkerSets and their pods.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::leaderworkerset {

extern const rules::WorkloadKind kAdmission;

}  // namespace tpuslice::leaderworkerset
