// Reading the steps of a scenario.
#pragma once

#include <set>
#include <string>

#include "tests/e2e/runner/scenario.h"
#include "tests/e2e/runner/yaml_file.h"

namespace tpuslice::e2e {

/// Names that steps so far have given to what they remember.
using Names = std::set<std::string>;

/// Errors of all: InvalidArgument with file and line.
[[nodiscard]] Result<Step> read_step(const YamlNode& node, Names& names);
[[nodiscard]] Result<Target> read_target(const YamlNode& node);
/// `text` is the path, `node` where it stands.
[[nodiscard]] Result<FieldPath> read_path(const YamlNode& node, const std::string& text);
/// An error without a place gets that of the node.
[[nodiscard]] Error placed(const YamlNode& node, const Error& error);

}  // namespace tpuslice::e2e
