// The values of --controllers and --take-over.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"

namespace tpuslice {

/// "*,-raycluster" as entries. Errors: InvalidArgument for an unknown name, or without an entry.
[[nodiscard]] Result<std::vector<std::string>> parse_controllers(const std::string& value);

/// "raycluster,jobset" as names of controllers that have an upstream controller. Errors: InvalidArgument.
[[nodiscard]] Result<std::vector<std::string>> parse_take_over(const std::string& value);

}  // namespace tpuslice
