// The plan of one slice: releases the other hosts of a placed slice, tears down a broken one. Pure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/plan/failed_writes.h"
#include "controllers/slice/lost_nodes.h"
#include "controllers/slice/slice.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice::slice {

struct SliceObserved {
  ObjectKey key;                         ///< Namespace, and value of the label tpuslice.dev/slice.
  std::vector<PodPtr> pods;              ///< All with that label.
  std::map<std::string, NodePtr> nodes;  ///< Nodes of those pods, by name; deleted nodes are absent.
  Timestamp now;
  std::map<std::string, NotReady> not_ready = {};  ///< Those of the nodes that are not Ready, by name.
  RemovedHosts removed_hosts = {};
  std::shared_ptr<const plan::FailedWrites> failed_writes = {};  ///< Null: none.
  /// Its workload is being deleted, is suspended, has finished, or no longer exists (workloads.h).
  bool workload_ends = false;
  /// When the slice may be torn down for a lost node (teardown_rate.h); absent: at once.
  std::optional<Timestamp> teardown_turn = {};
};

/// - Placed slice: pods that are still gated (the placement was interrupted, or they were created later) are released
///   to the domain of host 0. A pod that kube-scheduler cannot place yet, or leaves without a node and without saying
///   why, gets a waiting reason.
/// - Slice that lost a pod, has a pod on a lost node, or has a pod that kube-scheduler cannot place in the domain or
///   whose release keeps failing for Options::scheduling_timeout, or a pod without a node for Options::start_timeout:
///   all started hosts are deleted. The slice's controller recreates them under its own policy and budget, and they
///   wait for nodes like those of a new slice. Gated hosts are kept, so a slice is torn down once. If a host was lost
///   or failed, they get tpu::teardown_grace().
/// - Slice that lost a pod because its workload ends: nothing, since that deletes the others, too.
/// - Slice that is being preempted by one of higher priority: the rest of it is deleted, without an event of its own.
/// - Companion without hosts: it is released after a time-out.
/// - Placed slice with a node that is not Ready: the pod whose node is lost first gets tpu::kNodeNotReady, and the
///   workload an event.
/// - Placed slice of which hosts were removed after they had succeeded: a pod gets tpu::kRemovedHosts.
/// - Terminating pod on a lost node: it is force-deleted after a time-out.
///
/// A node counts as lost when it is not Ready for Options::node_timeout, counted from NotReady::counts_from.
///
/// Slices without gates are left to kube-scheduler; a pod that it cannot place gets a waiting reason. A slice that was
/// placed before all its pods existed is not torn down for a lost pod: its controller replaces that pod or deletes the
/// group.
[[nodiscard]] plan::Plan plan_slice(const SliceObserved& seen, const Options& options);

}  // namespace tpuslice::slice
