// Overlapping restarts: the replacement of a Job is created while pods of the Job terminate.
#pragma once

#include "api/types/views.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Whether the Job may be deleted before its pods (spec.restart_at_failure_target). Quota must cover the pods of both
/// Jobs. All of these must hold:
///
/// - the pods of the replacement are gated and belong to the slice of the Job's pods, so the slice controller releases
///   them only after all of those are deleted;
/// - the Job creates no more pods, or all of them are ready: the replacement inherits no expectations of the Job
///   controller (kubernetes#142142, kubernetes#131917; docs/adr/0015 describes the remaining race);
/// - neither the Job nor the JobSet is suspended: a user who suspends waits until the pods are deleted.
///
/// `replacements` builds the Jobs of the next attempt.
[[nodiscard]] bool may_overlap_restart(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements);

}  // namespace tpuslice::jobset
