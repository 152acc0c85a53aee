// Objects of a real cluster, as kubectl and `kubectl tpu report` save them, for a simulated one.
#pragma once

#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

/// The nodes of a list as `kubectl get nodes -o json` prints it: with their labels, taints, allocatable resources and
/// cordons. A node that is not Ready is lost in the simulated cluster, too. `list` may be an array of nodes.
///
/// Errors: InvalidArgument, with the path of an item that is not a node.
[[nodiscard]] Result<std::vector<Json>> saved_nodes(const Json& list);

/// What is applied of a document: the object; of a list its items, after their namespaces, without what an API server
/// writes. Items that have ended, or that another object controls, are left out: the first have no nodes, and the
/// others are created again.
[[nodiscard]] std::vector<Json> saved_manifests(const Json& document);

}  // namespace tpuslice::sim
