// Kinds: what the API server itself does to objects of some built-in kinds when they are written, beyond defaults.
#pragma once

#include "api/sim/resources.h"
#include "api/sim/storage.h"
#include "api/types/object.h"

namespace tpuslice::sim {

struct KindContext {
  const Storage& storage;
  std::string now;  ///< RFC 3339.
};

/// Fills in what the server decides on creation: the first status, cluster IPs, a Job's selector. metadata.uid is set.
/// Errors: Invalid, e.g. for a cluster IP that is taken.
[[nodiscard]] Status prepare_create(const Resource& resource, Json& object, const KindContext& context);

/// Carries over what an update may leave out (a Service's clusterIP, a Namespace's finalizers).
[[nodiscard]] Status prepare_update(const Resource& resource, Json& object, const Json& old,
                                    const KindContext& context);

/// Whether it has a deletionTimestamp.
[[nodiscard]] bool terminating(const Json& object);

/// Whether a pod shows phase Succeeded or Failed.
[[nodiscard]] bool pod_finished(const Json& pod);

/// Whether the pod has an init container of this name that is restarted always.
[[nodiscard]] bool is_sidecar(const Json& pod, std::string_view name);

}  // namespace tpuslice::sim
