// What a RayCluster asks for in total, as its status and `kubectl get` show it.
#pragma once

#include "api/types/quantity.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

struct DesiredResources {
  Quantity cpu;
  Quantity memory;
  Quantity gpu;  ///< Over all GPU resource names.
  Quantity tpu;
};

/// Head and all workers; as upstream of `replicas` as written, not kept between minimum and maximum. Suspended groups
/// count nothing. A container counts its requests, and its limits where it requests nothing.
[[nodiscard]] DesiredResources desired_resources(const RayClusterSpec& spec);

/// Numbers of pods, as the status has them.
struct DesiredWorkers {
  std::int32_t desired = 0;
  std::int32_t minimum = 0;
  std::int32_t maximum = 0;  ///< Stops at the largest int32.
};
[[nodiscard]] DesiredWorkers desired_workers(const RayClusterSpec& spec);

}  // namespace tpuslice::raycluster
