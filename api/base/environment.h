// The environment of child processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tpuslice {

/// The environment of this process ("NAME=value") and `added`, which replaces variables of the same name; of a name
/// that is added twice the last counts. Sorted by name.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added);

}  // namespace tpuslice
