// Names of domains. A domain is the nodes that share one value of the topology key and together are exactly one slice:
// on GKE, a node pool.
#pragma once

#include <string>
#include <utility>

#include "api/types/views.h"

namespace tpuslice::slice {

/// A topology key and one of its values.
using DomainName = std::pair<std::string, std::string>;

/// The domain of an ungated host of a multi-host slice: that of its node, or the one it was placed in. Empty if it was
/// released without a domain and has no node yet.
[[nodiscard]] std::string domain_of(const PodView& pod, const std::string& topology_key, const NodeView* node);

/// The value of the topology key; empty without one.
[[nodiscard]] const std::string& domain_of_node(const NodeView& node, const std::string& topology_key);

/// "node pool" for GKE's label, else "value of <label>"; plural unless `count` is 1.
[[nodiscard]] std::string domain_noun(const std::string& topology_key, std::size_t count = 1);

}  // namespace tpuslice::slice
