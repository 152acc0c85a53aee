// Environment variables of Ray containers and init containers.
#pragma once

#include <string>

#include "controllers/raycluster/pods/ray_start.h"
#include "controllers/raycluster/raycluster_options.h"

namespace tpuslice::raycluster {

struct RayEnvironment {
  NodeType type = NodeType::kWorker;
  std::string head_fqdn;
  std::string head_port;
  std::string ray_start;  ///< The generated command, for commands of users that run it.
  std::string creator;    ///< Kind that created the cluster.
};

/// Appends the variables of KubeRay to container 0, in its order. Does not override those that users may set.
void add_ray_environment(Json& container, const RayEnvironment& environment, const Options& options);

/// Appends an environment variable as the API has it: {"name": ..., "value": ...}.
void add_variable(Json& container, Json variable);
/// The same, unless the container has one of its name.
void add_default_variable(Json& container, Json variable);

/// Appends FQ_RAY_IP and RAY_IP, the address of the head.
void add_init_environment(Json& init_container, const std::string& head_fqdn);

}  // namespace tpuslice::raycluster
