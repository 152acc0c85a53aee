// Server-side apply.
#pragma once

#include "cmd/tpu-slice-sim/patch/patch.h"

namespace tpuslice::sim {

[[nodiscard]] Result<Json> apply_server_side(const Resource& resource, const Json& current, const Json& config,
                                             const PatchContext& context);

}  // namespace tpuslice::sim
