// The persistent volume claims of spec.volumeClaimPolicies.
#pragma once

#include <vector>

#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

/// Claims with whenDeleted: Delete are owned by the JobSet; those with Retain are not.
[[nodiscard]] Json build_claim(const JobSetSpec& spec, const VolumeClaim& claim);

/// The claims that do not exist.
[[nodiscard]] std::vector<const VolumeClaim*> missing_claims(const JobSetSpec& spec, const JobSetObserved& seen);

}  // namespace tpuslice::jobset
