// Predicates: whether a pod may run on a node, regardless of other pods' affinity.
#pragma once

#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::sim {

/// kube-scheduler's message for the first predicate that fails, or empty.
///
/// Not modelled: host ports, volumes, topology spread constraints, preemption.
[[nodiscard]] std::vector<std::string> misfits(const PodInfo& pod, const NodeInfo& node);

/// Higher is better: preferred node affinity, PreferNoSchedule taints, then the least requested node.
[[nodiscard]] std::int64_t score(const PodInfo& pod, const NodeInfo& node);

}  // namespace tpuslice::sim
