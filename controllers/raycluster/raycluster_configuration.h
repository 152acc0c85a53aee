// The section rayCluster of the configuration file: what the administrator sets for all RayClusters.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/raycluster/raycluster_options.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::raycluster {

inline constexpr std::string_view kConfigurationSection = "rayCluster";

/// Sets what `section` says; keys that KubeRay's configuration has as well have its names. Returns every error, with
/// its path from the section's name on; then `options` has no certain value.
[[nodiscard]] std::vector<rules::FieldError> read_configuration(const Json& section, Options& options);

/// The options of a valid configuration file: its section, or the defaults. `configuration` may be null.
[[nodiscard]] Options configured_options(const Json& configuration);

}  // namespace tpuslice::raycluster
