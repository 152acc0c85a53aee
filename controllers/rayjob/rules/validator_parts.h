// The parts of validate_rayjob(). All append to `errors`.
#pragma once

#include <vector>

#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// Types, enumerations and bounds. Source: upstream's CRD and validation.
void check_rayjob_schema(const Json& job, FieldErrors& errors);

/// spec.deletionStrategy, shutdownAfterJobFinishes and ttlSecondsAfterFinished.
void check_rayjob_deletion(const Json& job, FieldErrors& errors);

/// Whether spec.deletionStrategy has rules.
[[nodiscard]] bool has_deletion_rules(const Json& job);

}  // namespace tpuslice::rules
