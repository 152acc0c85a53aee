// The upstream controllers that serve the operator's kinds, as their manifests and charts install them.
#pragma once

#include <vector>

#include "cmd/tpu-slice-operator/options.h"
#include "controllers/runtime/upstream_controllers.h"

namespace tpuslice {

/// The upstream controllers that serve a kind of a controller that runs and does not take over (--take-over).
[[nodiscard]] std::vector<runtime::UpstreamController> upstream_controllers(const OperatorOptions& options);

}  // namespace tpuslice
