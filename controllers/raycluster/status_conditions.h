// The conditions in a RayCluster's status.
#pragma once

#include "controllers/raycluster/status.h"

namespace tpuslice::raycluster {

/// Brings `conditions` up to date. `all_running`: every pod the spec wants is there and ready.
void update_conditions(const StatusInput& input, bool all_running, Json& conditions);

/// Sets or removes tpuslice.dev/Accepted.
void update_accepted(const RayClusterObserved& seen, const Refusal& refusal, Json& conditions);

}  // namespace tpuslice::raycluster
