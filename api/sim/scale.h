// What the subresources scale, binding and eviction mean for their objects.
#pragma once

#include "api/sim/registry.h"

namespace tpuslice::sim {

/// autoscaling/v1 Scale of an object. Errors: InternalError where the object has no replicas at the declared path.
[[nodiscard]] Result<Json> scale_of(const Resource& resource, const Json& object);

/// Writes a Scale's replicas into the object, and its resourceVersion as a precondition. Errors: Invalid.
[[nodiscard]] Status set_scale(const Resource& resource, const Json& scale, Json& object);

/// PodTopologyLabels: a pod has the zone and region of its node as labels, whatever it said of them itself.
void copy_topology_labels(const Storage& storage, const std::string& node, Json& pod);

/// Puts a pod on a node. Errors: Conflict where it is on one, gated, or on its way out; `uid` is a precondition.
[[nodiscard]] Status bind_pod(Registry& registry, const ObjectKey& key, const std::string& node, const std::string& uid,
                              const WriteOptions& options);

/// Errors: TooManyRequests where a PodDisruptionBudget allows no disruption of the pod.
[[nodiscard]] Status check_eviction(const Registry& registry, const ObjectKey& pod);

}  // namespace tpuslice::sim
