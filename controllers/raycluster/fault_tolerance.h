// Fault tolerance of the GCS on Redis: what the pods of a cluster need for it. The cleanup is in redis_cleanup.h.
#pragma once

#include "controllers/raycluster/ray_start.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Says in the annotations of the head whether the cluster is fault-tolerant, and where its state is in Redis.
void annotate_fault_tolerance(const RayClusterSpec& spec, Json& head_annotations);

/// Adds the environment of a Ray container in a fault-tolerant cluster: Redis for the head; for workers, time for a new
/// head to start.
void add_fault_tolerance(const RayClusterSpec& spec, NodeType type, Json& container);

/// Passes the credentials for Redis to `ray start` of the head.
void add_redis_credentials(const FaultTolerance& fault_tolerance, StringMap& ray_start_params);

}  // namespace tpuslice::raycluster
