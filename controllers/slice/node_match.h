// Whether a pod may run on a node, other pods aside: selector, affinity and taints, as kube-scheduler reads them.
#pragma once

#include <string>

#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// Node selector and required node affinity. An affinity that no API server would accept matches no node.
[[nodiscard]] bool selects(const PodView& pod, const NodeView& node);

/// The first taint that keeps the pod away, as "key=value:Effect"; empty if none does. Taints of nodes that are not
/// ready, or cordoned, are not looked at: the node says that itself.
[[nodiscard]] std::string untolerated_taint(const PodView& pod, const NodeView& node);

/// The two pods have the same chances on every node.
[[nodiscard]] bool choose_alike(const PodView& a, const PodView& b);

}  // namespace tpuslice::slice
