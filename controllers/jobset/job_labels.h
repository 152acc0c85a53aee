// Labels and annotations of a JobSet's Jobs and of their pods, to the byte those of upstream.
#pragma once

#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Labels of a Job and its pods, which both also have as annotations: names, indexes and counts of the Job within the
/// JobSet, the replicated job and the group. Both attempts come from `status`.
[[nodiscard]] StringMap job_labels(const JobSetSpec& spec, const ReplicatedJob& job, int index,
                                   const JobSetStatus& status);

/// Annotations for exclusive placement from the replicated job, or else from the JobSet, for the Job and its pods.
[[nodiscard]] StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job);

}  // namespace tpuslice::jobset
