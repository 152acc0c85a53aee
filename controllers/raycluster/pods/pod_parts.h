// Parts that pods get beside what their template has: probes, volumes, and what the fault tolerance of the GCS on Redis
// needs. The cleanup of Redis is in redis_cleanup.h.
#pragma once

#include <string>

#include "controllers/raycluster/pods/ray_start.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Adds missing probes to container 0: since Ray 2.53 an HTTP request; for earlier versions commands that check the
/// raylet and, on the head, the GCS.
void add_probes(Json& container, NodeType type, const StringMap& ray_start_params, const std::string& ray_version);

/// Changes the readiness probe that add_probes() added to a worker: raylet and Serve proxy must both be healthy.
void probe_serve_proxy(Json& container, const StringMap& ray_start_params);

/// Mounts an emptyDir in memory at /dev/shm for Ray's object store, as large as the container's memory; not if the user
/// mounts a volume there, or sets another directory with `plasma-directory`.
void add_shared_memory(Json& pod_spec, Json& container, const StringMap& ray_start_params);

/// Mounts an emptyDir for Ray's logs at /tmp/ray; not if the user mounts a volume there.
void add_log_volume(Json& pod_spec, Json& container);

/// Says in the annotations of the head whether the cluster is fault-tolerant, and where its state is in Redis.
void annotate_fault_tolerance(const RayClusterSpec& spec, Json& head_annotations);

/// Adds the environment of a Ray container in a fault-tolerant cluster: Redis for the head; for workers, time for a new
/// head to start.
void add_fault_tolerance(const RayClusterSpec& spec, NodeType type, Json& container);

/// Passes the credentials for Redis to `ray start` of the head.
void add_redis_credentials(const FaultTolerance& fault_tolerance, StringMap& ray_start_params);

}  // namespace tpuslice::raycluster
