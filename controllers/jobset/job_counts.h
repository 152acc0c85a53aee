// JobCounts: the Jobs of each replicated job by state, as .status.replicatedJobsStatus lists them.
#pragma once

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Counts the Jobs of the current attempt. The restarts of single Jobs are those of `before`.
[[nodiscard]] JobCounts count_jobs(const JobSetSpec& spec, const ChildJobs& children, const JobSetStatus& before);

/// All replicas of all replicated jobs are ready or have succeeded.
[[nodiscard]] bool all_ready(const JobSetSpec& spec, const JobCounts& counts);

}  // namespace tpuslice::jobset
