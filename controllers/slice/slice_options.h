// Options of the controller of single slices.
#pragma once

#include <chrono>
#include <cstdint>

#include "api/base/clock.h"

namespace tpuslice::slice {

struct Options {
  /// A node that is not Ready for this long is lost, with its pods. Kubernetes marks a silent node after 50 s and
  /// evicts its pods after further 300 s (the default toleration of node.kubernetes.io/unreachable); Kueue replaces a
  /// node of a running workload after 30 s.
  Duration node_timeout = std::chrono::minutes(5);
  /// While more than this number of TPU nodes, and this share of all, are not Ready, and for node_timeout afterwards,
  /// none of them counts as lost.
  /// Defaults: those of kube-controller-manager for a partial disruption of a zone (--unhealthy-zone-threshold).
  std::int64_t disrupted_nodes = 2;
  std::int64_t disrupted_percent = 55;
  /// After the first ten, one slice on lost nodes is torn down in this time; 0: all at once. Default: as
  /// kube-controller-manager evicts from nodes (--node-eviction-rate).
  Duration teardown_interval = std::chrono::seconds(10);
  /// A terminating pod on a lost node is force-deleted this long after its deletion was due.
  Duration lost_pod_timeout = std::chrono::minutes(5);
  /// A slice is torn down if a pod is still unschedulable this long after the placement, or if the API server has
  /// refused to release a pod for this long.
  Duration scheduling_timeout = std::chrono::minutes(2);
  /// The same if a pod has no node this long after the placement, whatever kube-scheduler waits for; 0: never.
  Duration start_timeout = std::chrono::minutes(15);
  Duration waiting_reason_delay = std::chrono::seconds(5);  ///< Younger slices get no waiting reason.
  /// Missing hosts of a placed slice are a waiting reason this long after its last pod was created.
  Duration missing_hosts_delay = std::chrono::minutes(1);
  /// A pod that has no node for this long, and no reason of kube-scheduler, is itself a waiting reason. Usually a pod
  /// is bound within a second.
  Duration unbound_reason_delay = std::chrono::seconds(30);
};

}  // namespace tpuslice::slice
