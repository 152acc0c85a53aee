// The environment of child processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tpuslice {

/// The environment of this process as "NAME=value", with `added`, which overrides variables of the same name. If
/// `added` has a name twice, the last one wins. Sorted by name.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added);

}  // namespace tpuslice
