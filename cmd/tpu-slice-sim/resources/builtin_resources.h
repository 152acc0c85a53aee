// The built-in resources that the simulated API server serves.
#pragma once

#include <vector>

#include "cmd/tpu-slice-sim/resources/resources.h"

namespace tpuslice::sim {

[[nodiscard]] std::vector<Resource> builtin_resources();

/// Whether `metadata.generation` of the resource counts changes of its spec.
[[nodiscard]] bool has_generation(const Resource& resource);

/// Whether a PUT creates an object that does not exist.
[[nodiscard]] bool creates_on_update(const Resource& resource);
/// Whether a PUT must have a resourceVersion.
[[nodiscard]] bool needs_version(const Resource& resource);

}  // namespace tpuslice::sim
