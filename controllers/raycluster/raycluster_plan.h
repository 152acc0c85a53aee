// The plan of a RayCluster: from what was observed to what is to be done. Pure.
#pragma once

#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/options.h"

namespace tpuslice::raycluster {

/// Stages: deletes; services; all pods, head and workers, at once. Then the status, as it was before these writes.
///
/// Empty for a cluster that is being deleted (its children go with it) or that spec.managedBy gives to another
/// controller. A spec that is invalid, or uses what this program does not serve, is not carried out: its status and a
/// Warning event say why, and pods that exist go on.
[[nodiscard]] Result<runtime::Plan> plan_raycluster(const RayClusterObserved& seen, const Options& options);

}  // namespace tpuslice::raycluster
