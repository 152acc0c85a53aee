// Nodes of pools that are one slice each, and pods of slices as admission mutates them.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/scheduling/method.h"

namespace tpuslice::bench {

/// Hosts of every slice and every pool: v6e 4x4.
inline constexpr int kHosts = 4;

/// The Ready nodes of pools 0 to `pools` - 1, JSON each, with 4 chips each and the labels and the taint of GKE.
/// `now` is RFC 3339.
[[nodiscard]] std::vector<std::string> make_nodes(int pools, const std::string& now);

/// The pods of `slices` slices, JSON each, ordered by slice and host. If the method places them, slice i is in pool
/// `pools[i]`; others use no pools.
[[nodiscard]] std::vector<std::string> waiting_pods(Method method, const std::string& namespace_name, int slices,
                                                    const std::vector<int>& pools);
/// "slice-7-2", host 2 of slice 7.
[[nodiscard]] std::string pod_name(int slice, int host);

/// The same pods with nodes, evenly over `pools`; kube-scheduler ignores them.
[[nodiscard]] std::vector<std::string> running_pods(Method method, const std::string& namespace_name, int slices,
                                                    int pools);

/// The pools that running_pods() leaves free.
[[nodiscard]] std::vector<int> free_pools(int slices, int pools);

/// "pool-3" for the node "pool-3-1".
[[nodiscard]] std::string pool_of(const std::string& node);

}  // namespace tpuslice::bench
