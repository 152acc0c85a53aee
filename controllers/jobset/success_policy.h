// The success policy: when a JobSet has succeeded.
#pragma once

#include "controllers/jobset/children.h"
#include "controllers/jobset/spec.h"

namespace tpuslice::jobset {

/// One Job of the policy's targets where any is enough, else all of them.
[[nodiscard]] bool has_succeeded(const JobSetSpec& spec, const Children& children);

}  // namespace tpuslice::jobset
