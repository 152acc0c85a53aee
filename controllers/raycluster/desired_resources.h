// Total resources and numbers of workers that a RayCluster requests, for its status.
#pragma once

#include "api/types/quantity.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

struct DesiredResources {
  Quantity cpu;
  Quantity memory;
  Quantity gpu;  ///< Over all GPU resource names.
  Quantity tpu;
};

/// Sums for the head and all workers of groups that are not suspended; as upstream with `replicas` as written, not
/// bounded by minimum and maximum. Of a container the requests count, and limits of resources without a request.
[[nodiscard]] DesiredResources desired_resources(const RayClusterSpec& spec);

/// Numbers of pods.
struct DesiredWorkers {
  std::int32_t desired = 0;
  std::int32_t minimum = 0;
  std::int32_t maximum = 0;  ///< At most the maximum of int32.
};
[[nodiscard]] DesiredWorkers desired_workers(const RayClusterSpec& spec);

}  // namespace tpuslice::raycluster
