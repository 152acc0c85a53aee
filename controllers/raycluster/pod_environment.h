// Environment variables of Ray containers and init containers.
#pragma once

#include <string>

#include "controllers/raycluster/options.h"
#include "controllers/raycluster/ray_start.h"

namespace tpuslice::raycluster {

struct RayEnvironment {
  NodeType type = NodeType::kWorker;
  std::string head_fqdn;
  std::string head_port;
  std::string ray_start;  ///< The generated command, for users whose own command runs it.
  std::string creator;    ///< Kind that made the cluster.
};

/// Appends to container 0 what KubeRay appends, in its order. Variables that users may set are left as they are.
void add_ray_environment(Json& container, const RayEnvironment& environment, const Options& options);

/// Appends FQ_RAY_IP and RAY_IP, by which init containers find the head.
void add_init_environment(Json& init_container, const std::string& head_fqdn);

}  // namespace tpuslice::raycluster
