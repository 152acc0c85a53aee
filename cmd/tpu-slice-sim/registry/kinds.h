// Kinds: what the API server sets in objects of some built-in kinds when they are written, beyond defaults.
#pragma once

#include "api/types/object.h"
#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

struct KindContext {
  const Storage& storage;
  std::string now;  ///< RFC 3339.
};

/// Sets the first status, cluster IPs, a Job's selector. Expects metadata.uid.
/// Errors: Invalid, for example for a cluster IP that is allocated.
[[nodiscard]] Status prepare_create(const Resource& resource, Json& object, const KindContext& context);

/// Restores fields that an update may omit (a Service's clusterIP, a Namespace's finalizers).
[[nodiscard]] Status prepare_update(const Resource& resource, Json& object, const Json& old,
                                    const KindContext& context);

/// Whether the object has a deletionTimestamp.
[[nodiscard]] bool terminating(const Json& object);

/// Whether the phase of the pod is Succeeded or Failed.
[[nodiscard]] bool pod_finished(const Json& pod);

/// Whether the pod has an init container of this name with restartPolicy Always.
[[nodiscard]] bool is_sidecar(const Json& pod, std::string_view name);

}  // namespace tpuslice::sim
