// Validation of metadata, the same for all kinds.
#pragma once

#include <vector>

#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {

/// Checks the metadata on create.
[[nodiscard]] std::vector<FieldProblem> check_metadata(const Resource& resource, const Json& object);

/// Checks the metadata on update, also that immutable members did not change.
[[nodiscard]] std::vector<FieldProblem> check_metadata_update(const Resource& resource, const Json& object,
                                                              const Json& old);

/// Errors: BadRequest if a field of the metadata has the wrong type, such as a number as a label value.
[[nodiscard]] Status check_metadata_types(const Resource& resource, const Json& object);

}  // namespace tpuslice::sim
