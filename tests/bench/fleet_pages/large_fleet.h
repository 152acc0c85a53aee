// The nodes and pods of a large fleet, as the API server has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/types/json.h"
#include "api/types/object.h"

namespace tpuslice::bench {

struct LargeFleetOptions {
  int nodes = 15'000;
  int running = 2'000;  ///< Slices of 4 hosts, v6e 4x4, on pools of their own.
  int waiting = 500;    ///< The same slices, without nodes.
  int namespaces = 40;
};

/// JSON of the nodes: a pool for each slice that runs, and the rest in pools of 32 hosts of v5p, which are free.
[[nodiscard]] std::vector<std::string> nodes_of(const LargeFleetOptions& options, const std::string& now);

/// JSON of the pods of a namespace as admission and the slice controllers leave them.
[[nodiscard]] std::vector<std::string> pods_of(const LargeFleetOptions& options, int namespace_index);
/// Their status if their slice runs: Ready.
[[nodiscard]] std::vector<ObjectKey> running_pods_of(const LargeFleetOptions& options);
[[nodiscard]] Json ready_status(const std::string& now);

/// "team-7"
[[nodiscard]] std::string namespace_of(int index);

}  // namespace tpuslice::bench
