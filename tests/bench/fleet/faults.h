// Fault: something that ends the work of hosts, and what it does to their nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "api/base/clock.h"
#include "tests/bench/fleet/fleet.h"

namespace tpuslice::fleet_bench {

enum class FaultKind : std::uint8_t {
  kProcessFails,   ///< The pod on the node fails; the node is not affected.
  kHostLost,       ///< The host stops without notice, and is repaired.
  kMaintenance,    ///< A node pool is stopped for maintenance that was announced.
  kSpotReclaimed,  ///< A spot node pool is deleted, and comes back later.
};

struct Fault {
  Timestamp at;
  FaultKind kind = FaultKind::kProcessFails;
  NodeId first_node = 0;
  int nodes = 1;
  Duration down{};  ///< Until the nodes are back.
};

/// How long before it begins maintenance is announced.
inline constexpr Duration kMaintenanceNotice = std::chrono::days(2);

/// Faults between `start` and `end`, by time. `factor` multiplies all rates.
[[nodiscard]] std::vector<Fault> make_faults(const Fleet& fleet, std::uint64_t seed, double factor, Timestamp start,
                                             Timestamp end);

}  // namespace tpuslice::fleet_bench
