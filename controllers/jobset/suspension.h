// Suspension: Jobs are suspended and resumed with their JobSet; what a queue has put into the template meanwhile goes
// with them.
#pragma once

#include <memory>
#include <vector>

#include "controllers/jobset/changes.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/startup.h"

namespace tpuslice::jobset {

/// All at once.
void suspend_jobs(const std::vector<JobPtr>& active, Changes& changes);

/// The Jobs of those replicated jobs that may start. Labels, annotations, node selector, tolerations and scheduling
/// gates are brought to what the JobSet's template says now; what others have added to the Job stays, in its order.
///
/// A Job that was made for another slice than the template now asks for (the environment of its pods says which, and
/// cannot be changed) is deleted, and created anew.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Status resume_jobs(const std::vector<JobPtr>& active, const Startup& startup, const JobBuilder& builder,
                                 Changes& changes);

}  // namespace tpuslice::jobset
