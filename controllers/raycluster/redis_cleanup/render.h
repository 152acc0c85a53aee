// Renders the deletion of a cluster, and the finalizer of the cleanup of Redis.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/redis_cleanup/redis_cleanup.h"

namespace tpuslice::raycluster {

/// A patch of the cluster that adds the finalizer. It fails if the cluster has changed since it was observed.
[[nodiscard]] plan::Action add_cleanup_finalizer(const Object& cluster);

/// Stages: deletes of pods; the Job; the removal of the finalizer. The status is not written.
[[nodiscard]] plan::Plan render_deletion(const RayClusterState& state, const DeletionDecision& decision);

}  // namespace tpuslice::raycluster
