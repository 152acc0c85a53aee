// What admission does for DisaggregatedSets. Their pods are those of LeaderWorkerSets.
#pragma once

#include "tpu/rules/workload_kinds.h"

namespace tpuslice::disaggregatedset {

extern const rules::WorkloadKind kAdmission;

}  // namespace tpuslice::disaggregatedset
