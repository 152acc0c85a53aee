// What would help a slice that waits, tried by the planner on a changed snapshot; and when it may start otherwise.
#pragma once

#include <string>
#include <vector>

#include "fleet/model.h"
#include "fleet/outlook.h"

namespace tpuslice::fleet {

/// What would let the slice of the verdict start, the best first: repairs of nodes, and what does not help.
[[nodiscard]] std::vector<std::string> helps_for(const Snapshot& snapshot, const Fleet& fleet, const Verdict& verdict,
                                                 const FleetSlice& slice);

/// When it may start without anyone doing anything, from the deadlines of those that use its domains; empty if nothing
/// can be said.
[[nodiscard]] std::string earliest_start(const Fleet& fleet, const Verdict& verdict, const FleetSlice& slice);

/// What is asked of the cluster autoscaler for it.
[[nodiscard]] std::string autoscaler_text(const Snapshot& snapshot, const Verdict& verdict);

/// The pool that is a domain; null if the domain is not shown as a pool.
[[nodiscard]] const Pool* find_pool(const Fleet& fleet, const std::string& topology_key, const std::string& name);

/// Whether the slice would be placed at once after the nodes of the pool were repaired.
[[nodiscard]] bool starts_after_repair(const Snapshot& snapshot, const std::vector<std::string>& nodes,
                                       const ObjectKey& slice);

}  // namespace tpuslice::fleet
