// The headless service that gives the pods of a JobSet their DNS names.
#pragma once

#include "controllers/jobset/changes.h"
#include "controllers/jobset/observed.h"

namespace tpuslice::jobset {

[[nodiscard]] Json build_service(const JobSetSpec& spec);

/// Creates the service where it is missing, restores what drifted. Somebody else's service of that name is left alone;
/// unless it serves these pods too, a condition and an event say what is wrong with it.
void plan_service(const JobSetObserved& seen, Changes& changes);

}  // namespace tpuslice::jobset
