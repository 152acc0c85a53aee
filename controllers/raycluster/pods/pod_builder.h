// Head and worker pods of a RayCluster, already mutated as admission would.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/slice_text.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Keeps the whole template except name, namespace, owner and the labels that identify the pod.
///
/// Errors: InvalidArgument if the template has no container.
[[nodiscard]] Result<Object> build_head_pod(const RayClusterSpec& spec, const Options& options);

/// The workers of one group. Builds what they have in common once, and owns it. Thread-safe.
class WorkerPodBuilder {
 public:
  /// Errors: InvalidArgument if the template has no container.
  static Result<WorkerPodBuilder> create(const RayClusterSpec& spec, const WorkerGroup& group, const Options& options);

  [[nodiscard]] ObjectKey key(WorkerIndex index) const;
  /// Does what build_worker_pod() does.
  [[nodiscard]] Result<Object> build(WorkerIndex index) const;
  /// The same as JSON text, in a fraction of the time for all hosts of a slice but the first one that is asked for.
  [[nodiscard]] Result<std::string> text(WorkerIndex index) const;

 private:
  class Texts;

  WorkerPodBuilder();
  [[nodiscard]] SliceHost host(WorkerIndex index) const;
  [[nodiscard]] std::optional<SliceText> slice_text(int replica) const;

  RayClusterSpec cluster_;  ///< Only the fields that names depend on.
  std::string group_;
  std::int32_t hosts_ = 1;
  rules::MutationOptions mutation_;
  Json common_;
  std::shared_ptr<Texts> texts_;  ///< A cache.
};

/// A worker pod: as build_head_pod(), with its index labels and, for TPU pods, its identity in the slice.
///
/// Errors: InvalidArgument if the template has no container or contradicts itself about its slice.
[[nodiscard]] Result<Object> build_worker_pod(const RayClusterSpec& spec, const WorkerGroup& group, WorkerIndex index,
                                              const Options& options);

}  // namespace tpuslice::raycluster
