// What is scheduled, and where: node pools that are a slice each, and the pods of slices as admission makes them.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/scheduling/way.h"

namespace tpuslice::bench {

/// Of every slice and every pool: v6e 4x4.
inline constexpr int kHosts = 4;

/// The Ready nodes of pools 0 to `pools` - 1, JSON each, with 4 chips each and the labels and the taint of GKE.
/// `now` is RFC 3339.
[[nodiscard]] std::vector<std::string> make_nodes(int pools, const std::string& now);

/// The pods of so many slices, JSON each, the hosts of one after the other.
[[nodiscard]] std::vector<std::string> waiting_pods(Way way, const std::string& namespace_name, int slices);
/// "slice-7-2", host 2 of slice 7.
[[nodiscard]] std::string pod_name(int slice, int host);

/// The same pods with nodes, evenly over `pools`, as if they had been there before: the scheduler is not asked.
[[nodiscard]] std::vector<std::string> running_pods(Way way, const std::string& namespace_name, int slices, int pools);

/// "pool-3" for the node "pool-3-1".
[[nodiscard]] std::string pool_of(const std::string& node);

}  // namespace tpuslice::bench
