// The success policy: when a JobSet has succeeded.
#pragma once

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Whether one Job of the policy's targets (operator Any) or all of them have succeeded.
[[nodiscard]] bool has_succeeded(const JobSetSpec& spec, const ChildJobs& children);

}  // namespace tpuslice::jobset
