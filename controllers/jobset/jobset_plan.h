// The plan of a JobSet. Pure.
#pragma once

#include "controllers/jobset/jobset_options.h"
#include "controllers/jobset/observed.h"

namespace tpuslice::jobset {

/// Decides (decisions.h) and renders (render.h).
///
/// Stages: deletes of Jobs; deletes of their pods; Jobs that are suspended; service and volume claims;
/// status.executionAttempts of a JobSet that is resumed; start times of Jobs that are resumed; Jobs. The status is as
/// observed before these writes.
///
/// Empty for a JobSet that is being deleted. One that spec.managedBy assigns to another controller is only deleted, at
/// the end of its time to live. If the spec is invalid or has an unsupported field, a condition and a Warning event
/// report it, and existing Jobs continue unless spec.suspend is true.
[[nodiscard]] plan::Plan plan_jobset(const JobSetObserved& seen, const Options& options);

}  // namespace tpuslice::jobset
