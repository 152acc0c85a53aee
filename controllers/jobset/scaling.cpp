#include "controllers/jobset/scaling.h"

#include <fmt/format.h>

namespace tpuslice::jobset {

void scale_jobs(const std::vector<JobPtr>& active, Changes& changes) {
  for (const JobPtr& job : active) {
    const ReplicatedJob* of = changes.spec.find(replicated_job_of(*job));
    if (of == nullptr || job->deletion || !of->indexed || of->completions != of->parallelism) continue;
    if (job->parallelism == of->parallelism && job->completions == of->completions) continue;
    Json patch = {{"spec", {{"parallelism", of->parallelism}, {"completions", *of->completions}}}};
    changes.jobs.push_back(runtime::Action::patch(kJobs, job->key, std::move(patch), {.uid = job->uid}));
    changes.reasons.push_back(
        fmt::format("job {} goes from {} to {} pods", job->key.name, job->parallelism, of->parallelism));
  }
}

}  // namespace tpuslice::jobset
