// NodeRequirements: what the pods of a slice demand of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controllers/placement/node_match.h"
#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// Different requirements of the pods of one slice, beyond which the slice is not placed: each is compared with each
/// node.
inline constexpr std::size_t kMaxRequirementsOfSlice = 8;

struct NodeRequirements {
  std::vector<PodRequirements> pods;  ///< One for each distinct set of selector, affinity and tolerations.
  bool too_many = false;              ///< More than kMaxRequirementsOfSlice; then `pods` is incomplete.
  std::string topology_key;
  std::int64_t chips = 0;  ///< Chips of one pod.
  std::int64_t hosts = 0;
  std::int64_t open_hosts = 0;  ///< Pods that exist and have no node.
  /// kubernetes.io/hostname in the node selectors, by host index, "" without one; empty if no pod has one. The other
  /// members do not depend on it.
  std::vector<std::string> hostnames;
};
[[nodiscard]] NodeRequirements node_requirements(const Slice& slice);
/// Each domain fits both, or neither.
[[nodiscard]] bool are_equivalent(const NodeRequirements& a, const NodeRequirements& b);

}  // namespace tpuslice::placement
