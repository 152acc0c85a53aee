// What a command is about: a workload, a node pool or a node, as "kind/name".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/resource_type.h"

namespace tpuslice::plugin {

struct Target {
  std::string kind;  ///< Kind as the user wrote it, in lower case; empty if only a name was given.
  std::string name;
};

/// Reads "rayjob/train" or "train". Errors: InvalidArgument for an empty part, and for a text that is not the name of
/// an object.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

/// The types of workloads whose pods can be hosts of slices, or that own such workloads.
[[nodiscard]] const std::vector<ResourceType>& workload_types();

/// The type with this kind, plural, "plural.group" or short name, in any case. Errors: InvalidArgument with the kinds
/// that exist.
[[nodiscard]] Result<ResourceType> workload_type_of(std::string_view kind);

/// The name of "pool/NAME". Errors: InvalidArgument for another kind.
[[nodiscard]] Result<std::string> pool_name_of(std::string_view text);

}  // namespace tpuslice::plugin
