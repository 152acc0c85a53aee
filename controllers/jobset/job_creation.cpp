#include "controllers/jobset/job_creation.h"

#include "tpu/rules/limits.h"

namespace tpuslice::jobset {

Result<std::vector<NewJob>> missing_jobs(const JobSetSpec& spec, const ChildJobs& children,
                                         const StartupDecision& startup, const JobBuilder& builder) {
  std::vector<NewJob> out;
  for (const ReplicatedJob* job : startup.may_start) {
    const auto position = static_cast<std::size_t>(job - spec.jobs.data());
    bool checked = false;
    for (int index = 0; index < job->replicas; ++index) {
      if (out.size() >= rules::kMaxCreatesPerPlan) return out;
      if (children.names.contains(job_name(spec, *job, index))) continue;
      // A template error affects all Jobs of a replicated job, so building one finds it.
      if (!checked) RETURN_IF_ERROR(builder.build(position, index));
      checked = true;
      out.push_back({position, index});
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
