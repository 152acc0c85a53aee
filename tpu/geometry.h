// Geometry of a slice: bounds of hosts and processes.
//
// Validation needs it (the number of worker processes is the product of the host bounds), and so does device_env.h.
// Source of every formula: ai-on-gke/tpu-device-plugin pkg/tpu/util/util.go, the same in dra-driver-google-tpu.
#pragma once

#include <optional>
#include <string>

#include "tpu/catalog.h"

namespace tpuslice::tpu {

/// TPU_CHIPS_PER_HOST_BOUNDS of a container with `chips` chips. Errors: InvalidArgument unless 1, 2, 4 or 8.
[[nodiscard]] Result<Bounds> chips_per_host_bounds(std::int64_t chips);

/// TPU_HOST_BOUNDS: the topology divided by chips_per_host_bounds. Its product is the number of worker processes.
/// Errors: InvalidArgument if it does not divide.
[[nodiscard]] Result<Bounds> host_bounds(const Topology& topology, std::int64_t chips);

/// TPU_TOPOLOGY_WRAP: "true,true,true" if all axes are tori. v5e and v6e: an axis wraps at 16. Others: all wrap once
/// every padded dimension is at least 4.
[[nodiscard]] std::string topology_wrap(const Accelerator& accelerator, const Topology& topology);

/// TPU_ACCELERATOR_TYPE: "v6e-16". Errors: InvalidArgument for device labels without a type.
[[nodiscard]] Result<std::string> accelerator_type(const Accelerator& accelerator, const Topology& topology);

/// The topology of a pod on nodes of `node`, annotated with cloud.google.com/gke-tpu-slice-topology: the annotation if
/// the accelerator has that shape and it fits, else the node's.
[[nodiscard]] Topology effective_topology(const Accelerator& accelerator, const Topology& node,
                                          std::string_view annotation);

}  // namespace tpuslice::tpu
