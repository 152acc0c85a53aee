// Assignment: which waiting slice gets which whole, free domain, and why the others get none.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controllers/slice/inventory.h"

namespace tpuslice::slice {

/// What happens to a slice for which no domain is free.
enum class NoCapacity : std::uint8_t {
  kWait,     ///< It stays gated.
  kRelease,  ///< It is released without a domain, so that an autoscaler sees its pods; one slice at a time.
};

struct Placement {
  const Slice* slice = nullptr;
  std::string domain;              ///< Empty: released without a domain.
  std::vector<std::string> nodes;  ///< Node of each host, by host index; empty: any node of the domain.
};

struct WaitingSlice {
  const Slice* slice = nullptr;
  std::string reason;
};

struct Assignment {
  std::vector<Placement> placements;
  std::vector<WaitingSlice> waiting;
};

/// Number of placed slices of each gang, by namespace and gang name.
using GangCounts = std::map<std::pair<std::string, std::string>, std::size_t>;

/// The slices that wait for nodes of one accelerator, and what else decides the order.
struct PlacementRequest {
  std::vector<Slice> ready;  ///< All pods exist and wait for nodes only.
  /// Released without a domain, and some pods are not scheduled yet. No slice with equivalent node requirements is
  /// placed or released meanwhile: the two could each get half of a domain.
  std::vector<Slice> released = {};
  GangCounts placed_gangs = {};
  DomainFailures domain_failures = {};  ///< A free domain with fewer failures is preferred.
  NoCapacity no_capacity = NoCapacity::kWait;
  /// Waiting reasons name objects of other namespaces.
  bool show_other_namespaces = false;
};

/// Marks the assigned domains as occupied in `inventory`. The assignment points into `request.ready`.
///
/// Slices are ordered by priority, then age. A gang has the highest priority and the greatest age of its slices, and
/// either all of its slices get a domain or none; slices of a gang that was placed before (one slice was torn down, or
/// a crash interrupted the placement) count as placed. A slice without a domain reserves one that it could use later,
/// so that younger slices with overlapping domains cannot starve it. Nothing is reserved for a gang that would not fit
/// into an empty cluster.
[[nodiscard]] Assignment assign(const PlacementRequest& request, Inventory& inventory);

}  // namespace tpuslice::slice
