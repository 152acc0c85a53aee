// The section rayCluster of the configuration file: what the administrator sets for all RayClusters.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/raycluster/options.h"
#include "webhook/rules/field_errors.h"

namespace tpuslice {

inline constexpr std::string_view kRayClusterSection = "rayCluster";

/// Sets what `section` says; keys that KubeRay's configuration has as well have its names. Returns every error, with
/// its path from the section's name on; then `options` has no certain value.
[[nodiscard]] std::vector<webhook::FieldError> read_raycluster_configuration(const Json& section,
                                                                             raycluster::Options& options);

}  // namespace tpuslice
