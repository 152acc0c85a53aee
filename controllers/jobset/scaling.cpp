#include "controllers/jobset/scaling.h"

namespace tpuslice::jobset {

std::vector<JobResize> jobs_to_resize(const JobSetSpec& spec, const std::vector<JobPtr>& active) {
  std::vector<JobResize> out;
  for (const JobPtr& job : active) {
    const ReplicatedJob* desired = spec.find(replicated_job_of(*job));
    if (desired == nullptr || job->deletion || !desired->indexed) continue;
    if (desired->completions != desired->parallelism) continue;
    if (job->parallelism == desired->parallelism && job->completions == desired->completions) continue;
    out.push_back({job, desired});
  }
  return out;
}

}  // namespace tpuslice::jobset
