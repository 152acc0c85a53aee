// Validation of a RayCronJob: the rules of KubeRay, and those of the RayJob that its template makes. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/types/typed.h"
#include "controllers/raycronjob/rules/spec.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/refusal.h"

namespace tpuslice::raycronjob {

/// All errors of `cron_job`. `old` is the stored object on an update, else null; errors that it has already are left
/// out.
[[nodiscard]] rules::FieldErrors validate_raycronjob(const Json& cron_job, const Json* old);

/// Warnings of less than 256 bytes each, about what is valid but probably not intended; those of the RayJob, too.
[[nodiscard]] std::vector<std::string> warn_raycronjob(const Json& cron_job, const Json* old);

/// Unsupported fields in use, those of the RayJob.
[[nodiscard]] std::vector<rules::UnsupportedField> unsupported_raycronjob_fields(const Json& cron_job);

}  // namespace tpuslice::raycronjob
