// Reads the steps of a scenario.
#pragma once

#include <set>
#include <string>

#include "tests/e2e/runner/scenario.h"
#include "tests/e2e/runner/yaml_file.h"

namespace tpuslice::e2e {

/// Names of the values that earlier steps save.
using SavedNames = std::set<std::string>;

/// Errors of all: InvalidArgument with file and line.
[[nodiscard]] Result<Step> read_step(const YamlNode& node, SavedNames& names);
[[nodiscard]] Result<Target> read_target(const YamlNode& node);
/// `node` is the location of the path `text`.
[[nodiscard]] Result<FieldPath> read_path(const YamlNode& node, const std::string& text);
/// Adds the location of `node` to an error.
[[nodiscard]] Error with_location(const YamlNode& node, const Error& error);

}  // namespace tpuslice::e2e
