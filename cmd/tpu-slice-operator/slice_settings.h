// The options of placement and of the slice controllers, as the flags set them.
#pragma once

#include <set>
#include <string>

#include "cmd/tpu-slice-operator/options.h"
#include "controllers/placement/placement_options.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice {

/// The topology keys that slices may have.
[[nodiscard]] std::set<std::string, std::less<>> topology_keys(const OperatorOptions& options);

/// `namespace_name`: of the operator.
[[nodiscard]] placement::PlacementOptions placement_options(const OperatorOptions& options,
                                                            const std::string& namespace_name);

[[nodiscard]] slice::Options slice_options(const OperatorOptions& options);

}  // namespace tpuslice
