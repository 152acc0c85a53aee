// The status of a fleet: how many pools and chips of each shape are in use, and who waits for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model.h"

namespace tpuslice::fleet {

/// The pools of one accelerator and topology.
struct StatusRow {
  std::string accelerator;
  std::string tpu;
  std::string topology;
  std::int64_t pools = 0;
  std::int64_t in_use = 0;
  std::int64_t free = 0;
  std::int64_t reserved = 0;
  std::int64_t broken = 0;  ///< Broken or draining.
  std::int64_t chips_in_use = 0;
  std::int64_t chips = 0;
  std::int64_t waiting = 0;         ///< Slices that wait for such pools.
  std::optional<Timestamp> oldest;  ///< The time from which the first of them waits.
  friend bool operator==(const StatusRow&, const StatusRow&) = default;
};

/// A row for each shape that there is, or that a slice waits for, by TPU and size.
[[nodiscard]] std::vector<StatusRow> status_of(const Fleet& fleet);

/// Chips of the nodes of the pool that are in use.
[[nodiscard]] std::int64_t chips_in_use(const Pool& pool);

}  // namespace tpuslice::fleet
