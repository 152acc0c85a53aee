// The Jobs that are missing, and the counts of those that are there.
#pragma once

#include <memory>

#include "controllers/jobset/changes.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/startup.h"

namespace tpuslice::jobset {

/// Counts `children` into the status of each replicated job.
void count_jobs(const Children& children, Changes& changes);

/// All replicated jobs have as many Jobs ready or succeeded as they have replicas.
[[nodiscard]] bool all_ready(const Changes& changes);

/// Creates what is missing of the replicated jobs that may start. With a blocking failure policy nothing is created
/// while Jobs of an earlier attempt are there.
///
/// Errors: JobBuilder::build()'s.
[[nodiscard]] Status create_jobs(const Children& children, const Startup& startup,
                                 const std::shared_ptr<const JobBuilder>& builder, Changes& changes);

}  // namespace tpuslice::jobset
