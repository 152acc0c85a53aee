// JobSetState: what the policies of a JobSet decide from, derived from one observation.
#pragma once

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/execution_attempts.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Borrows from the observation.
struct JobSetState {
  explicit JobSetState(const JobSetObserved& observed)
      : seen(observed),
        spec(observed.jobset.spec()),
        status(JobSetStatus::read(observed.jobset)),
        children(classify_jobs(spec, status, observed.jobs)),
        counts(count_jobs(spec, children, status)),
        attempts(count_attempts(spec, status, children)) {}

  const JobSetObserved& seen;
  const JobSetSpec& spec;
  const JobSetStatus status;  ///< The status as observed, before this plan.
  const ChildJobs children;
  const JobCounts counts;
  const ExecutionAttempts attempts;
};

}  // namespace tpuslice::jobset
