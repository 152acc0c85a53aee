// The conditions of a RayCluster.
#pragma once

#include "controllers/raycluster/raycluster_status.h"

namespace tpuslice::raycluster {

/// Updates upstream's conditions, and ours. `all_running`: every pod of the spec is running and ready.
void update_conditions(const StatusInput& input, bool all_running, Json& conditions);

/// Updates the conditions of ours while the spec is refused, and those of a suspension.
void update_refused(const RayClusterState& state, const Problem& refusal, Json& conditions);

}  // namespace tpuslice::raycluster
