// Reads the key `autoscaler` of a scenario.
#pragma once

#include <optional>

#include "tests/e2e/runner/scenario.h"
#include "tests/e2e/runner/yaml_file.h"

namespace tpuslice::e2e {

/// `pools` as in Scenario: no group has the name of one. Errors of both: InvalidArgument with file and line.
[[nodiscard]] Result<testing::AutoscalerOptions> read_autoscaler(const YamlNode& node, const Json& pools);
/// Steps for the autoscaler need one, and a group that it has.
[[nodiscard]] Status check_autoscaler_step(const YamlNode& node, const Step& step,
                                           const std::optional<testing::AutoscalerOptions>& autoscaler);

}  // namespace tpuslice::e2e
