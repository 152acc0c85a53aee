// Elastic Jobs: spec.parallelism and completions of running Jobs follow those of the JobSet.
#pragma once

#include <vector>

#include "controllers/jobset/child_jobs.h"

namespace tpuslice::jobset {

struct JobResize {
  JobPtr job;
  const ReplicatedJob* replicated_job = nullptr;  ///< Has the new size.
};

/// The Jobs whose parallelism changes. Upstream resizes them only if parallelism and completions are equal in the
/// JobSet; admission rejects other changes.
[[nodiscard]] std::vector<JobResize> jobs_to_resize(const JobSetSpec& spec, const std::vector<JobPtr>& active);

}  // namespace tpuslice::jobset
