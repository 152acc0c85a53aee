// Chosen nodes: the placement of a slice whose pods select kubernetes.io/hostname. Kueue's Topology Aware Scheduling
// sets it on each pod before it removes its scheduling gate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "controllers/placement/domains/inventory.h"

namespace tpuslice::placement {

struct ChosenNodes {
  std::string domain;
  std::vector<std::string> nodes;  ///< Node of each host, by host index; empty if a host does not exist or has ended.
};

/// `requirements.hostnames` is not empty. Hosts that are created later, as their controller waits for host 0, join the
/// domain of those that exist; their own node selectors say where.
///
/// Errors: Conflict, with the waiting reason for `viewer` (Inventory::check), if the nodes are not a whole free
/// domain.
[[nodiscard]] Result<ChosenNodes> chosen_nodes(const NodeRequirements& requirements, Inventory& inventory,
                                               std::string_view viewer);

}  // namespace tpuslice::placement
