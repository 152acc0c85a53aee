// Validation of a RayJob: the rules of KubeRay, and those of the RayCluster that it embeds. Pure.
//
// The webhook refuses objects with it; the controller reports its errors in case no webhook is installed.
#pragma once

#include <string>
#include <vector>

#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::rules {

/// All errors of `job`. `old` is the stored object on an update, else null; errors that it has already are left out.
/// Absent fields count as the CRD's defaults.
[[nodiscard]] FieldErrors validate_rayjob(const Json& job, const Json* old);

/// Warnings of less than 256 bytes each: about what is valid but probably not intended, and on an update about changes
/// that do not affect the running attempt.
[[nodiscard]] std::vector<std::string> warn_rayjob(const Json& job, const Json* old);

/// Unsupported fields in use, those of the embedded RayCluster; empty for a job that spec.managedBy assigns to another
/// controller.
[[nodiscard]] std::vector<UnsupportedField> unsupported_rayjob_fields(const Json& job);

}  // namespace tpuslice::rules
