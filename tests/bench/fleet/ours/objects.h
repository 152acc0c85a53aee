// The nodes and pods of a simulated fleet as the operator's stores hold them.
#pragma once

#include <string>
#include <vector>

#include "api/types/views.h"
#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

/// `state.exists` is set.
[[nodiscard]] NodeView make_node(const Fleet& fleet, NodeId id, const NodeState& state);

/// The gated pods of a slice by host, as admission leaves the pods of a JobSet. `attempt` counts how often they were
/// created.
[[nodiscard]] std::vector<PodView> make_pods(const Fleet& fleet, const Job& job, int slice, int attempt, Timestamp now);

[[nodiscard]] ObjectKey slice_key_of(const Job& job, int slice);

}  // namespace tpuslice::fleet_bench
