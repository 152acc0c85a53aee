// NodeGroup: a node pool that the autoscaler of the tests adds and removes as a whole.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::testing {

/// Its size is 0 or pool.hosts.
struct NodeGroup {
  sim::NodePool pool;
  int min = 0;
  int max = 0;
  bool capacity = true;  ///< False: its scale-ups fail; those of a queued group wait.
  bool queued = false;   ///< Scaled up by ProvisioningRequests of class queued-provisioning.gke.io only.
};

[[nodiscard]] NodeGroup node_group(sim::NodePool pool);
/// A queued group: its nodes have the label and the taint cloud.google.com/gke-queued.
[[nodiscard]] NodeGroup queued_node_group(sim::NodePool pool);

/// Groups in the form of `pools` (docs/simulator.md), with `min` (0) and `max` (the hosts) in addition.
///
/// Errors: InvalidArgument with the path of the first invalid field.
[[nodiscard]] Result<std::vector<NodeGroup>> parse_node_groups(const Json& list);

/// The nodes that the scheduler's predicates are run with while the group has none. Their hostname is not that of a
/// node to come, so pods pinned to a node never bring one.
[[nodiscard]] sim::NodeInfo template_node(const NodeGroup& group, int host);

}  // namespace tpuslice::testing
