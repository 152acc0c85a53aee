// The persistent volume claims of spec.volumeClaimPolicies.
#pragma once

#include "controllers/jobset/changes.h"
#include "controllers/jobset/observed.h"

namespace tpuslice::jobset {

/// Creates those that are missing. Claims of the policy Delete belong to the JobSet and go with it, those of Retain
/// stay.
void plan_claims(const JobSetObserved& seen, Changes& changes);

}  // namespace tpuslice::jobset
