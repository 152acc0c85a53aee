// Head and worker pods of a RayCluster, complete as they are created: nothing is left for a webhook to add.
#pragma once

#include <string>

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

/// The workers of one group. What they have in common is built once; it owns what it needs. Thread-safe.
class WorkerPods {
 public:
  /// Errors: InvalidArgument if the template has no container.
  static Result<WorkerPods> of(const RayClusterSpec& spec, const WorkerGroup& group, const Options& options);

  [[nodiscard]] ObjectKey key(WorkerPlace place) const;
  /// As build_worker_pod().
  [[nodiscard]] Result<Object> build(WorkerPlace place) const;

 private:
  WorkerPods() = default;

  RayClusterSpec cluster_;  ///< Only what names are made of.
  std::string group_;
  std::int32_t hosts_ = 1;
  webhook::MutationOptions mutation_;
  Json common_;
};

/// As build_head_pod(), with its index labels and, for TPU pods, its identity in the slice.
///
/// Errors: InvalidArgument if the template has no container or contradicts itself about its slice.
[[nodiscard]] Result<Object> build_worker_pod(const RayClusterSpec& spec, const WorkerGroup& group, WorkerPlace place,
                                              const Options& options);

}  // namespace tpuslice::raycluster
