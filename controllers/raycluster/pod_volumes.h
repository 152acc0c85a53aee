// The volumes that are added to pods.
#pragma once

#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Mounts an emptyDir in memory at /dev/shm for Ray's object store, as large as the container's memory; not if the user
/// mounts a volume there, or sets another directory with `plasma-directory`.
void add_shared_memory(Json& pod_spec, Json& container, const StringMap& ray_start_params);

/// Mounts an emptyDir for Ray's logs at /tmp/ray; not if the user mounts a volume there.
void add_log_volume(Json& pod_spec, Json& container);

}  // namespace tpuslice::raycluster
