// Ray's autoscaler: a container of the head pod, and the permissions with which it scales its cluster.
//
// It scales through the API server: it sets the replicas of worker groups, and lists the pods of idle replicas in
// scaleStrategy.workersToDelete.
#pragma once

#include <vector>

#include "api/types/object.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Adds the container to a head pod, with the service account whose permissions it needs, and sets its version
/// for Ray.
void add_autoscaler(const RayClusterSpec& spec, Json& pod_spec);

/// Mounts a volume at /tmp/ray of the Ray container and the autoscaler: Ray prints what the autoscaler logs.
void share_logs_with_autoscaler(Json& pod_spec);

/// The role of the autoscaler, its binding, and the service account of the head, unless its template names one.
[[nodiscard]] std::vector<Object> autoscaler_children(const RayClusterSpec& spec);

}  // namespace tpuslice::raycluster
