// The plan of a RayCluster from what was observed. Pure.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"

namespace tpuslice::raycluster {

/// Empty for a cluster that is being deleted (the garbage collector deletes its children), except the cleanup of
/// Redis, or that spec.managedBy assigns to another controller. If the spec is invalid or has an unsupported field,
/// conditions and a Warning event say why, and existing pods keep running, but the cluster can be suspended and scaled
/// down.
[[nodiscard]] plan::Plan plan_raycluster(const RayClusterObserved& seen, const Options& options);

}  // namespace tpuslice::raycluster
