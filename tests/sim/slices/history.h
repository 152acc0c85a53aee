// One random history of slices, nodes and leaders from a seed, and the invariants that it must keep.
#pragma once

#include <cstdint>
#include <string>

namespace tpuslice::testing {

struct HistoryResult {
  std::string broken;    ///< The broken invariant; empty if all hold.
  std::string timeline;  ///< Empty unless requested.
  int steps = 0;
  int slices_run = 0;  ///< Slices with all pods on nodes at the end.
  int slices_waiting = 0;
};

/// Equal seeds give equal histories.
[[nodiscard]] HistoryResult run_history(std::uint64_t seed, bool with_timeline = false);

}  // namespace tpuslice::testing
