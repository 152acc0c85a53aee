// The workers of a RayCluster, planned group by group in whole replicas.
//
// - A broken replica is torn down whole, and built anew only when its last pod is gone: at no time can two live pods
//   have one worker id. Every group and replica is judged by itself; none waits for another.
// - Missing replicas take the lowest free indices. Surplus ones go whole: broken first, then unfinished, then whole
//   ones, the highest index first.
// - scaleStrategy.workersToDelete takes the replica of each pod it names. It is Ray's to clear; until then the named
//   replica's index is not used again, because its pods would bear the names in the list.
// - Pods of groups that the spec no longer has, or without a place in a replica, are deleted.
#pragma once

#include "controllers/raycluster/changes.h"
#include "controllers/raycluster/options.h"
#include "controllers/raycluster/pods.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

/// `workers` are pods whose controller is this cluster by UID; no other pod is ever touched.
[[nodiscard]] Changes plan_worker_groups(const RayClusterSpec& spec, const std::vector<PodPtr>& workers,
                                         const Options& options);

}  // namespace tpuslice::raycluster
