// WorkloadRef: the workload that a pod belongs to, as the annotation tpuslice.dev/workload names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/types/views.h"

namespace tpuslice::tpu {

struct WorkloadRef {
  std::string api_version;  ///< "jobset.x-k8s.io/v1alpha2"
  std::string kind;         ///< "JobSet"
  std::string name;         ///< In the pod's namespace.
  std::string uid;          ///< Empty if unknown.
  friend bool operator==(const WorkloadRef&, const WorkloadRef&) = default;
};

/// "JobSet.v1alpha2.jobset.x-k8s.io/train", as `kubectl get` takes it. Without the uid.
[[nodiscard]] std::string to_string(const WorkloadRef& workload);

/// The workload that admission wrote on the pod, else the pod's controller; nothing for a pod without either.
/// Annotations that admission would not write are ignored, as users can change them.
[[nodiscard]] std::optional<WorkloadRef> workload_of(const PodView& pod);

/// The pod's controller guarantees at most one pod of a name (a StatefulSet): a pod on a lost node must not be replaced
/// before the node is known to be gone.
[[nodiscard]] bool has_unique_name(const PodView& pod);

}  // namespace tpuslice::tpu
