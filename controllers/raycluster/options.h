// Options of the RayCluster controller: what a cluster administrator may choose for all RayClusters.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "webhook/rules/pod_mutator.h"

namespace tpuslice::raycluster {

struct Options {
  webhook::MutationOptions mutation;             ///< Of TPU pods.
  std::string cluster_domain = "cluster.local";  ///< DNS suffix of services.
  bool wait_for_gcs = true;                      ///< Workers get the init container wait-gcs-ready.
  bool inject_probes = true;                     ///< Ray containers without probes get the usual ones.
  bool head_cluster_ip = false;                  ///< The head service has an IP of its own instead of being headless.
  std::vector<std::pair<std::string, std::string>> container_env;  ///< Added to every Ray container that lacks them.
};

}  // namespace tpuslice::raycluster
