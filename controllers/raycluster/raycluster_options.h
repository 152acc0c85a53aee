// Options of the RayCluster controller, which apply to all RayClusters.
#pragma once

#include <string>

#include "controllers/raycluster/rules/raycluster_rules.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::raycluster {

/// What is added to the pods of all RayClusters. What a RayCluster itself sets takes precedence.
struct PodDefaults {
  Json head_sidecars = Json::array();    ///< Containers of head pods; not those whose name the pod has already.
  Json worker_sidecars = Json::array();  ///< Containers to add to worker pods.
  Json container_env = Json::array();    ///< Environment variables of Ray containers.
  StringMap labels;
  StringMap annotations;
};

struct Options {
  rules::MutationOptions mutation{.kinds = own_kinds()};  ///< Mutation of TPU pods.
  std::string cluster_domain = "cluster.local";           ///< DNS suffix of services.
  bool wait_for_gcs = true;                               ///< Adds the init container wait-gcs-ready to workers.
  bool inject_probes = true;                              ///< Adds KubeRay's probes to Ray containers without probes.
  bool head_cluster_ip = false;  ///< Gives the head service a cluster IP instead of making it headless.
  bool redis_cleanup = true;     ///< Deletes the state of deleted clusters from Redis.
  PodDefaults pod_defaults;
};

}  // namespace tpuslice::raycluster
