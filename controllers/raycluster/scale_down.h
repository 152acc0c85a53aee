// Scaling down a RayCluster whose spec is refused: that needs no valid template, and other workloads wait for its
// nodes.
#pragma once

#include <vector>

#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/rules/spec.h"
#include "controllers/raycluster/worker_groups.h"

namespace tpuslice::raycluster {

/// Deletes all pods of suspended groups, replicas with a pod in scaleStrategy.workersToDelete, and, without Ray's
/// autoscaler, surplus replicas: first those that have lost a pod, then the highest index. Nothing is judged by the
/// number of hosts, which may be what is wrong with the spec, and nothing is created.
///
/// Groups without a valid number of replicas, and all groups if two have one name, keep their pods. `workers` are as
/// for decide_workers().
[[nodiscard]] WorkerDecision decide_scale_down(const RayClusterSpec& spec, const std::vector<PodPtr>& workers);

}  // namespace tpuslice::raycluster
