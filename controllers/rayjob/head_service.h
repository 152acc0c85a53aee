// The service "<job>-head-svc", which selects the head of the present attempt's cluster.
#pragma once

#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

[[nodiscard]] std::string head_service_name(const RayJobSpec& spec);

/// Creates or restores it; not for a cluster that spec.clusterSelector names.
void ensure_head_service(const RayJobState& state, Draft& draft);

}  // namespace tpuslice::rayjob
