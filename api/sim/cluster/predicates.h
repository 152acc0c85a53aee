// Predicates: whether a pod may run on a node, all other pods aside.
#pragma once

#include <string>
#include <vector>

#include "api/sim/cluster/scheduling_info.h"

namespace tpuslice::sim {

/// Why `pod` may not run on `node`, in kube-scheduler's words; empty if it may. The first predicate that fails is the
/// one that speaks.
///
/// Not modelled: host ports, volumes, topology spread constraints, preemption.
[[nodiscard]] std::vector<std::string> misfits(const PodInfo& pod, const NodeInfo& node);

/// The higher the better: preferred node affinity, PreferNoSchedule taints, then the least requested node.
[[nodiscard]] std::int64_t score(const PodInfo& pod, const NodeInfo& node);

}  // namespace tpuslice::sim
