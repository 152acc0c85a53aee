// History: one random story of slices, nodes and leaders, told from a seed, and what must hold of it.
#pragma once

#include <cstdint>
#include <string>

namespace tpuslice::testing {

struct Verdict {
  std::string broken;    ///< What did not hold; empty for a good story.
  std::string timeline;  ///< If asked for.
  int steps = 0;
  int slices_run = 0;  ///< That had all their pods on nodes at the end.
  int slices_waiting = 0;
};

/// Equal seeds tell equal stories.
[[nodiscard]] Verdict tell_history(std::uint64_t seed, bool with_timeline = false);

}  // namespace tpuslice::testing
