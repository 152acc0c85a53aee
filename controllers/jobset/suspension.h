// Suspending and resuming Jobs with their JobSet. A queue such as Kueue may change the pod template before it resumes.
#pragma once

#include <vector>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/startup_policy.h"

namespace tpuslice::jobset {

/// The Jobs that are not suspended yet.
[[nodiscard]] std::vector<JobPtr> jobs_to_suspend(const std::vector<JobPtr>& active);

struct JobResume {
  JobPtr job;
  Json template_patch;  ///< Merge patch for the pod template; null if nothing changes.
  Json annotations;     ///< Merge patch for the annotations of the Job; null if nothing changes.
  Json resources;       ///< Strategic merge patch for the spec of its pods: resources; null if nothing changes.
};

struct ResumeDecision {
  std::vector<JobResume> resume;
  /// Created for another accelerator, topology, number of chips or gang: deleted and created again, as the environment
  /// of their pods cannot be changed, nor annotations removed.
  std::vector<JobPtr> recreate;
};

/// Resumes the suspended Jobs of the replicated jobs that may start. Updates labels, annotations, node selector,
/// tolerations and scheduling gates to the JobSet's template; additions of others to the Job stay. Requests and limits
/// of containers become those of the template.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Result<ResumeDecision> decide_resume(const JobSetSpec& spec, const std::vector<JobPtr>& active,
                                                   const StartupDecision& startup, const JobBuilder& builder);

}  // namespace tpuslice::jobset
