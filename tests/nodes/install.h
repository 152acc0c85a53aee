// install_on_nodes(): the operator on a NodeCluster, as users install it.
#pragma once

#include <string>

#include "tests/nodes/node_cluster.h"

namespace tpuslice::testing {

/// What kubectl prints as the administrator of the cluster. Errors: as output_of().
[[nodiscard]] Result<std::string> run_kubectl(const NodeCluster& cluster, const std::string& arguments);

/// Adds the image of `program`, a tpu-slice-operator, to the nodes of the pool "cpu", and if `command` is not empty,
/// runs it by kubectl and waits until all replicas are available. Errors: those of the commands.
Status install_on_nodes(NodeCluster& cluster, const std::string& program,
                        const std::string& command = "apply --server-side -f deploy/install.yaml");
/// Waits until all replicas of the installed operator are those of its Deployment, and available.
Status wait_for_rollout(const NodeCluster& cluster);

}  // namespace tpuslice::testing
