// What is left to do for a JobSet that has completed or failed.
#pragma once

#include "controllers/jobset/changes.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/options.h"

namespace tpuslice::jobset {

/// The JobSet has succeeded.
void complete(Changes& changes);

/// Jobs that are still active are deleted; the JobSet itself when spec.ttlSecondsAfterFinished is over.
void clean_up(const Children& children, const Options& options, Changes& changes);

}  // namespace tpuslice::jobset
