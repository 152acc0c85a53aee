// The plan of a JobSet. Pure.
#pragma once

#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/observed.h"

namespace tpuslice::jobset {

/// Decides (decisions.h) and renders (render.h).
///
/// Stages: deletes; Jobs that are suspended; service and volume claims; start times of Jobs that are resumed; Jobs. The
/// status is as observed before these writes.
///
/// Empty for a JobSet that is being deleted or that spec.managedBy assigns to another controller. A spec that is
/// invalid or has an unsupported field is not reconciled: a condition and a Warning event report it, and existing Jobs
/// continue.
[[nodiscard]] Result<plan::Plan> plan_jobset(const JobSetObserved& seen, const Options& options);

}  // namespace tpuslice::jobset
