// Teardown: Jobs that have to go.
#pragma once

#include <string_view>
#include <vector>

#include "controllers/jobset/changes.h"
#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/observed.h"
#include "controllers/jobset/options.h"

namespace tpuslice::jobset {

/// Deletes the Jobs, pods first; a Job before its pods where its successor may come before these are gone
/// (succession.h).
///
/// - One whose pods are still being created is suspended before: a Job controller that is in the middle of it, and
///   meets another Job of the same name, waits five minutes for pods that never come (kubernetes#142142,
///   kubernetes#131917).
/// - One that is still being deleted after options.stuck_after, as when a pod of it is on a lost node, is let go
///   without its pods, so that its successor can be created.
///
/// `successors` makes the Jobs that take the names of those that go; null where none will.
void tear_down(const std::vector<JobPtr>& jobs, std::string_view why, const JobBuilder* successors,
               const Options& options, Changes& changes);

}  // namespace tpuslice::jobset
