// The Job that deletes the state of a deleted cluster's GCS from Redis.
#pragma once

#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Value of the label ray.io/node-type of the Job and its pod.
inline constexpr std::string_view kRedisCleanupNode = "redis-cleanup";

/// The pod of the Job is the head's with the Ray container alone, which calls Ray's function for it: it has the head's
/// image, environment, volumes and node selector.
///
/// Errors: InvalidArgument if the template of the head has no container.
[[nodiscard]] Result<Object> build_redis_cleanup_job(const RayClusterSpec& spec, const Options& options);

}  // namespace tpuslice::raycluster
