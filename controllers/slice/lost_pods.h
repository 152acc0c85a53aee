// Pods without TPUs on lost nodes, such as the head of a RayCluster. Their deletion waits for the kubelet, and their
// controller for their deletion: the TPUs of the workload would be idle until the node returns. Pure.
#pragma once

#include <optional>

#include "controllers/plan/plan.h"
#include "controllers/slice/lost_nodes.h"
#include "controllers/slice/slice.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice::slice {

struct LostPodObserved {
  PodPtr pod;                      ///< may_be_lost()
  NodePtr node;                    ///< Node of the pod; null if it does not exist.
  std::optional<NotReady> health;  ///< Health of the node; absent if it is Ready.
  Timestamp now;
  std::optional<Timestamp> turn = {};  ///< When the pod may be deleted, if its node is lost (teardown_rate.h).
};

/// It terminates on a node, belongs to no slice (slice_plan.h has those), and its controller does not guarantee that
/// there is at most one pod of its name.
[[nodiscard]] bool may_be_lost(const PodView& pod);

/// When the node counts as lost, as that of a slice does, unless it is Ready again; absent for one that is Ready or
/// does not exist: the pods of a deleted node are deleted by Kubernetes.
[[nodiscard]] std::optional<Timestamp> lost_at(const LostPodObserved& seen, const Options& options);

/// Deletes the pod without waiting for its node, Options::lost_pod_timeout after its deletion was due.
[[nodiscard]] plan::Plan plan_lost_pod(const LostPodObserved& seen, const Options& options);

}  // namespace tpuslice::slice
