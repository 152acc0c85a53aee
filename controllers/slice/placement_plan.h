// The plan of one accelerator: which of the slices that wait for its nodes are placed now. Pure.
#pragma once

#include <string>
#include <vector>

#include "controllers/slice/options.h"
#include "controllers/slice/preemption_budget.h"
#include "controllers/slice/provisioning_request.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

struct PlacementObserved {
  std::string accelerator;     ///< Value of the node label, "tpu-v6e-slice".
  std::vector<NodePtr> nodes;  ///< All nodes with it.
  std::vector<PodPtr> pods;    ///< All pods with TPUs that select it, or select no accelerator.
  /// All other bound pods with the slice label. The anti-affinity of slices keeps them out of the domains of these
  /// pods.
  std::vector<PodPtr> pods_without_tpus = {};
  DomainFailures domain_failures;
  RemovedHosts removed_hosts = {};
  bool has_autoscaler = false;  ///< autoscaler_status.h
  ProvisioningState provisioning = {};
  PreemptionState preemptions = {};
  Timestamp now;
};

/// Releases host 0 of each slice that gets a domain, which records that the slice is placed; slice_plan.h releases the
/// other hosts. Writes a waiting reason on host 0 of the other slices, creates and deletes scouts (scale_up.h), and
/// preempts slices of lower priority (preemption.h), if the options allow it.
///
/// All decisions about the nodes of one accelerator are made here, one plan at a time, each after the stores show the
/// writes of the last, so no domain is assigned twice. (Two replicas that both believe to lead could; the pods'
/// anti-affinity then keeps one of the slices out, and it is torn down after scheduling_timeout.)
[[nodiscard]] plan::Plan plan_placement(const PlacementObserved& seen, const Options& options);

}  // namespace tpuslice::slice
