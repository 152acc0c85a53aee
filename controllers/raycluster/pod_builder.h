// Head and worker pods of a RayCluster, complete as they are created: nothing is left for a webhook to add.
#pragma once

#include "controllers/raycluster/options.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

/// Which worker of a group a pod is.
struct WorkerPlace {
  int replica = 0;
  int host = 0;
};

/// Everything the template says is kept; labels that place the pod, its name, namespace and owner are ours.
///
/// Errors: InvalidArgument if the template has no container.
[[nodiscard]] Result<Object> build_head_pod(const RayClusterSpec& spec, const Options& options);

/// As build_head_pod(), with its index labels and, for TPU pods, its identity in the slice.
///
/// Errors: InvalidArgument if the template has no container or contradicts itself about its slice.
[[nodiscard]] Result<Object> build_worker_pod(const RayClusterSpec& spec, const WorkerGroup& group, WorkerPlace place,
                                              const Options& options);

}  // namespace tpuslice::raycluster
