// What every object's metadata must satisfy, whatever its kind.
#pragma once

#include <vector>

#include "api/sim/resources.h"
#include "api/sim/schema/structural.h"

namespace tpuslice::sim {

/// Of an object that is about to be created.
[[nodiscard]] std::vector<FieldProblem> check_metadata(const Resource& resource, const Json& object);

/// Of an object that replaces `old`: also what may not change.
[[nodiscard]] std::vector<FieldProblem> check_metadata_update(const Resource& resource, const Json& object,
                                                              const Json& old);

/// Errors: BadRequest where the metadata is no ObjectMeta at all (a number as a label value).
[[nodiscard]] Status check_metadata_types(const Resource& resource, const Json& object);

}  // namespace tpuslice::sim
