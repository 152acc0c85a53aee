// Labels and annotations of a JobSet's Jobs and of their pods, to the byte those of upstream.
#pragma once

#include "controllers/jobset/spec.h"
#include "controllers/jobset/status.h"

namespace tpuslice::jobset {

/// What a Job and its pods have as labels and as annotations: names, indexes and counts of the Job in its JobSet, its
/// replicated job and its group. The two attempt numbers come from `status`.
[[nodiscard]] StringMap job_marks(const JobSetSpec& spec, const ReplicatedJob& job, int index,
                                  const JobSetStatus& status);

/// The annotations of exclusive placement that a replicated job has of its own or of its JobSet; they are annotations
/// of the Job and its pods too.
[[nodiscard]] StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job);

}  // namespace tpuslice::jobset
