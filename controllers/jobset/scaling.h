// Elastic Jobs: spec.parallelism and completions of running Jobs follow those of the JobSet.
#pragma once

#include <vector>

#include "controllers/jobset/changes.h"
#include "controllers/jobset/children.h"

namespace tpuslice::jobset {

/// Only where the two are equal in the JobSet, as upstream; the validator lets nobody change them otherwise.
void scale_jobs(const std::vector<JobPtr>& active, Changes& changes);

}  // namespace tpuslice::jobset
