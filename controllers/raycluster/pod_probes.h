// Liveness and readiness probes of Ray containers.
#pragma once

#include <string>

#include "controllers/raycluster/ray_start.h"

namespace tpuslice::raycluster {

/// Adds missing probes to container 0: since Ray 2.53 an HTTP request; for earlier versions commands that check the
/// raylet and, on the head, the GCS.
void add_probes(Json& container, NodeType type, const StringMap& ray_start_params, const std::string& ray_version);

/// Changes the readiness probe that add_probes() added to a worker: raylet and Serve proxy must both be healthy.
void probe_serve_proxy(Json& container, const StringMap& ray_start_params);

}  // namespace tpuslice::raycluster
