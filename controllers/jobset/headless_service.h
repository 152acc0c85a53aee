// The headless service that gives the pods of a JobSet their DNS names.
#pragma once

#include "controllers/jobset/observed.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/service.h"

namespace tpuslice::jobset {

[[nodiscard]] Json build_service(const JobSetSpec& spec);

/// Nothing to do if spec.network.enableDNSHostnames is false.
[[nodiscard]] plan::ChildDecision decide_service(const JobSetSpec& spec, const JobSetObserved& seen);

}  // namespace tpuslice::jobset
