// The subresources scale and binding.
#pragma once

#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// The autoscaling/v1 Scale of an object. Errors: InternalError if the object has no replicas at the declared path.
[[nodiscard]] Result<Json> scale_of(const Resource& resource, const Json& object);

/// Sets the replicas of the object; the resourceVersion of `scale` is a precondition. Errors: Invalid, Conflict.
[[nodiscard]] Status set_scale(const Resource& resource, const Json& scale, Json& object);

/// PodTopologyLabels: sets the zone and region labels of a pod to those of its node.
void copy_topology_labels(const Storage& storage, const std::string& node, Json& pod);

/// Binds a pod to a node. Errors: Conflict if it is bound, gated or terminating; `uid` is a precondition.
[[nodiscard]] Status bind_pod(Registry& registry, const ObjectKey& key, const std::string& node, const std::string& uid,
                              const WriteOptions& options);

}  // namespace tpuslice::sim
