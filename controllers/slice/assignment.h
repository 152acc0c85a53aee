// The assignment: which of the waiting slices get which whole, free domain now, and why the others do not.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/slice/inventory.h"

namespace tpuslice::slice {

/// What becomes of a slice for which there is no free domain.
enum class NoCapacity : std::uint8_t {
  kWait,     ///< It stays gated.
  kRelease,  ///< It is let go to no domain in particular, so that an autoscaler sees its pods; one at a time.
};

struct Placement {
  const Slice* slice = nullptr;
  std::string domain;              ///< Empty: released.
  std::vector<std::string> nodes;  ///< Of the domain, by host; empty: whichever.
};

struct Wait {
  const Slice* slice = nullptr;
  std::string why;
};

struct Assignment {
  std::vector<Placement> placements;
  std::vector<Wait> waits;
};

/// How many slices of a gang (by namespace and gang) have been placed already.
using GangCounts = std::map<std::pair<std::string, std::string>, std::size_t>;

/// Who wants nodes, and what else decides who gets them.
struct Contest {
  std::vector<Slice> ready;  ///< All pods exist and wait for nothing but us.
  /// Let go, and without all their nodes yet: none that wants the same is placed or released beside them, or two of
  /// them could each end up with half of a domain.
  std::vector<Slice> released = {};
  GangCounts placed_gangs = {};
  TroubleCounts troubles = {};  ///< Of several free domains a slice gets the one with the least.
  NoCapacity no_capacity = NoCapacity::kWait;
};

/// `inventory` then shows the domains taken. The assignment points into `contest.ready`.
///
/// The order is priority, then age; slices that start together stand where the first of them stands, and all get a
/// domain or none. One of them that was lost, or that a crash left behind, joins those in `placed_gangs` alone. A slice
/// that gets none keeps what it could use once others have ended, so that younger slices whose domains overlap with it
/// cannot starve it; what could never be enough is not kept.
[[nodiscard]] Assignment assign(const Contest& contest, Inventory& inventory);

}  // namespace tpuslice::slice
