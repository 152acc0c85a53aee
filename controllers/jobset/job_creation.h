// Creation of missing Jobs.
#pragma once

#include <cstddef>
#include <vector>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/startup_policy.h"

namespace tpuslice::jobset {

struct NewJob {
  std::size_t replicated_job = 0;  ///< Its position in the spec.
  int index = 0;
};

/// The missing Jobs of the replicated jobs that may start.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Result<std::vector<NewJob>> missing_jobs(const JobSetSpec& spec, const ChildJobs& children,
                                                       const StartupDecision& startup, const JobBuilder& builder);

}  // namespace tpuslice::jobset
