// Options of the RayCluster controller, which apply to all RayClusters.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "webhook/rules/pod_mutator.h"

namespace tpuslice::raycluster {

struct Options {
  webhook::MutationOptions mutation;             ///< Of TPU pods.
  std::string cluster_domain = "cluster.local";  ///< DNS suffix of services.
  bool wait_for_gcs = true;                      ///< Adds the init container wait-gcs-ready to workers.
  bool inject_probes = true;                     ///< Adds KubeRay's probes to Ray containers without probes.
  bool head_cluster_ip = false;                  ///< Gives the head service a cluster IP instead of making it headless.
  std::vector<std::pair<std::string, std::string>> container_env;  ///< Added to Ray containers that do not set them.
};

}  // namespace tpuslice::raycluster
