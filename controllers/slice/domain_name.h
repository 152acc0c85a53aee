// Names of domains. A domain is the nodes that share one value of the topology key and together are exactly one slice:
// on GKE, a node pool.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/types/views.h"
#include "tpu/labels.h"

namespace tpuslice::slice {

/// A topology key and one of its values.
using DomainName = std::pair<std::string, std::string>;

/// The domain of an ungated host of a multi-host slice: that of its node, or the one it was placed in. Empty if it was
/// released without a domain and has no node yet.
[[nodiscard]] inline std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node) {
  return node != nullptr ? value_of(node->labels, topology_key) : pod.annotation(tpu::kPlacedIn);
}

/// The value of the topology key; empty without one.
[[nodiscard]] inline const std::string& domain_of_node(const NodeView& node, const std::string& topology_key) {
  return value_of(node.labels, topology_key);
}

/// "node pool" for GKE's label, else "value of <label>"; plural unless `count` is 1.
[[nodiscard]] inline std::string domain_noun(const std::string& topology_key, std::size_t count = 1) {
  const char* plural = count == 1 ? "" : "s";
  if (topology_key == tpu::kNodePoolLabel) return fmt::format("node pool{}", plural);
  return fmt::format("value{} of {}", plural, topology_key);
}

}  // namespace tpuslice::slice
