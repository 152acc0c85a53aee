// Liveness and readiness probes of Ray containers.
#pragma once

#include <string>

#include "controllers/raycluster/ray_start.h"

namespace tpuslice::raycluster {

/// Gives container 0 the probes it lacks: one HTTP request from Ray 2.53 on, before that commands which ask the raylet
/// and, on the head, the GCS.
void add_probes(Json& container, NodeType type, const StringMap& ray_start_params, const std::string& ray_version);

}  // namespace tpuslice::raycluster
