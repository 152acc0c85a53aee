// The children of a JobSet other than Jobs: the headless service that gives its pods their DNS names, and the
// persistent volume claims of spec.volumeClaimPolicies.
#pragma once

#include <vector>

#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/service.h"

namespace tpuslice::jobset {

/// The headless service.
[[nodiscard]] Json build_service(const JobSetSpec& spec);

/// Nothing to do if spec.network.enableDNSHostnames is false.
[[nodiscard]] plan::ChildDecision decide_service(const JobSetSpec& spec, const JobSetObserved& seen);

/// Claims with whenDeleted: Delete are owned by the JobSet; those with Retain are not.
[[nodiscard]] Json build_claim(const JobSetSpec& spec, const VolumeClaim& claim);

/// The claims that do not exist.
[[nodiscard]] std::vector<const VolumeClaim*> missing_claims(const JobSetSpec& spec, const JobSetObserved& seen);

}  // namespace tpuslice::jobset
