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

/// "-raycluster, -jobset": the values of --controllers that leave out a kind.
[[nodiscard]] std::string list_of_left_out_kinds();

/// "rayjob and rayservice run with raycluster": the kinds that are left out, or taken over, with another.
[[nodiscard]] std::string list_of_followers();

/// "raycluster, jobset": the values of --take-over.
[[nodiscard]] std::string list_of_upstream_kinds();

/// "RayClusters, JobSets"
[[nodiscard]] std::string list_of_served_kinds();

}  // namespace tpuslice
