// The admission plugin ExtendedResourceToleration, which GKE clusters run.
#pragma once

#include "api/types/json.h"

namespace tpuslice::sim {

/// A pod that requests google.com/tpu or nvidia.com/gpu tolerates that taint.
void tolerate_accelerators(Json& pod);

}  // namespace tpuslice::sim
