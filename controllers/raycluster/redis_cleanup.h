// Deletion of a fault-tolerant cluster: the state of its GCS is deleted from Redis before the cluster is.
//
// A finalizer, added before the first pod is created, holds the deleted cluster. Its pods are deleted; when no head can
// write to Redis, a Job deletes the state. The finalizer is removed when the Job has finished, or when
// the cleanup is not possible or takes too long: an event then says that the state may still be there.
#pragma once

#include "controllers/plan/plan.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/raycluster_state.h"
#include "controllers/raycluster/redis_cleanup_job.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kRedisCleanupFinalizer = "ray.io/gcs-ft-redis-cleanup-finalizer";
/// Annotation of a RayCluster: seconds after its deletion until the finalizer is removed in any case.
inline constexpr std::string_view kDeletionTimeout = "ray.io/gcs-ft-deletion-timeout";
inline constexpr Duration kDefaultDeletionTimeout = std::chrono::seconds(300);

/// True if the cluster is to get the finalizer.
[[nodiscard]] bool needs_cleanup_finalizer(const RayClusterSpec& spec, const Object& cluster, const Options& options);

/// A patch of the cluster that adds the finalizer. It fails if the cluster has changed since it was observed.
[[nodiscard]] plan::Action add_cleanup_finalizer(const Object& cluster);

/// The plan of a cluster that is being deleted; empty without the finalizer. Whether the spec is valid does not matter.
[[nodiscard]] plan::Plan plan_deletion(const RayClusterState& state, const Options& options);

}  // namespace tpuslice::raycluster
