// What-if: what a change does to the slices of a fleet, found by running placement on the fleet with and without it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/changes.h"
#include "fleet/model.h"

namespace tpuslice::fleet {

/// A slice whose fate differs with the changes.
struct SliceEffect {
  FleetSlice slice;      ///< Before the changes.
  bool ends = false;     ///< It runs now, and its pods end.
  bool deleted = false;  ///< It no longer exists.
  bool is_new = false;   ///< It exists only after the changes.
  std::string before;    ///< Pool without the changes; empty: it waits.
  std::string after;     ///< Pool with the changes; empty: it waits.
  std::int64_t position_before = 0;
  std::int64_t position_after = 0;
  std::int64_t queued_after = 0;  ///< Gangs in the queue that it waits in.
  bool never = false;             ///< After the changes it does not start, however long it waits.
};

struct WhatIf {
  std::vector<std::string> changes;  ///< Their texts, as written.
  std::vector<SliceEffect> effects;  ///< Those that end first, then by their place in the queue.
  std::int64_t chips_before = 0;     ///< Chips in use when placement has nothing more to do.
  std::int64_t chips_after = 0;
  std::int64_t waiting_before = 0;  ///< Slices that wait then.
  std::int64_t waiting_after = 0;
};

/// The changes are made at once, in order.
[[nodiscard]] WhatIf what_if(const Snapshot& snapshot, const std::vector<Change>& changes);

[[nodiscard]] Json write_what_if(const WhatIf& answer);

}  // namespace tpuslice::fleet
