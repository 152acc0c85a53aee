// The resources that every Kubernetes cluster serves, as far as the simulated one does.
#pragma once

#include <vector>

#include "api/sim/resources.h"

namespace tpuslice::sim {

[[nodiscard]] std::vector<Resource> builtin_resources();

/// Whether `metadata.generation` of the resource counts changes of its spec.
[[nodiscard]] bool has_generation(const Resource& resource);

/// Reviews are answered, never stored: they can only be created.
[[nodiscard]] bool create_only(const Resource& resource);

/// Whether a PUT makes what is not there.
[[nodiscard]] bool creates_on_update(const Resource& resource);
/// Whether a PUT has to say which version it replaces.
[[nodiscard]] bool needs_version(const Resource& resource);

}  // namespace tpuslice::sim
