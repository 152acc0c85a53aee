// FleetCounts: how many pools and chips there are, in use, free and broken, for the metrics. Pure.
//
// A pool is the nodes of one slice: a domain, or a single node of an accelerator and topology whose slices have one
// host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// Values of the label "state"; of several that apply, the last one counts.
enum class PoolState : std::uint8_t {
  kFree,
  kDraining,  ///< A node is cordoned, and none is in use.
  kInUse,     ///< Pods use chips of a node.
  kBroken,    ///< A node is missing, is not Ready, is being deleted, or has no chips.
};
inline constexpr std::array<std::string_view, 4> kPoolStates = {"free", "draining", "in_use", "broken"};

/// Values of the labels "accelerator" and "topology": "other" for those that are not in the catalog.
using ShapeLabels = std::pair<std::string, std::string>;
/// One number for each state.
using ByPoolState = std::array<std::int64_t, kPoolStates.size()>;

struct FleetCounts {
  std::map<ShapeLabels, ByPoolState> pools;
  /// Chips of the pools in each state, by accelerator; those that pods use are always in use.
  std::map<std::string, ByPoolState> chips;
};

/// `is_used`: whether pods use chips of the node.
[[nodiscard]] FleetCounts count_fleet(const std::vector<NodePtr>& nodes, const std::string& topology_key,
                                      const std::function<bool(const NodeView&)>& is_used);

}  // namespace tpuslice::placement
