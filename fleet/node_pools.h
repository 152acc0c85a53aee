// Node pools that do not exist, from a short text: "v6e 4x4 x3".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/snapshot.h"

namespace tpuslice::fleet {

/// So many pools of a kind at most.
inline constexpr int kMaxNewPools = 1000;

/// The Ready nodes of new pools, for a text "<tpu> <topology> [x<count>]". `<tpu>` is "v6e" or the value of the label
/// cloud.google.com/gke-tpu-accelerator. The nodes are like those of a pool of that shape in the snapshot, if it has
/// one; else they have GKE's labels and taint, and more cpu and memory than any pod asks for. Their names begin with
/// the TPU and the topology and are not in use.
///
/// Errors: InvalidArgument with what was found and what would be right.
[[nodiscard]] Result<std::vector<NodePtr>> new_pools(std::string_view text, const Snapshot& snapshot);

/// Removes the taints that a repair ends: those of the node's own state (node.kubernetes.io/...), and those that say
/// that it is about to be removed. The others are the administrator's, and new nodes of the pool have them, too.
void remove_repaired_taints(NodeView& node);

}  // namespace tpuslice::fleet
