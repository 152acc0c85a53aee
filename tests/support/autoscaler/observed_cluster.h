// ObservedCluster: the pods, nodes and namespaces of one loop of the autoscaler.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/client/client.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::testing {

/// Pods with it wait for a ProvisioningRequest and never bring nodes by themselves.
inline constexpr std::string_view kConsumeRequest = "autoscaling.x-k8s.io/consume-provisioning-request";

struct ObservedPod {
  sim::PodInfo info;
  std::string created;
  std::string nominated_node;
  std::string consumed_request;  ///< Value of kConsumeRequest.
  bool unschedulable = false;    ///< PodScheduled is False with reason Unschedulable.
  bool daemon = false;           ///< Of a DaemonSet, or a static pod: does not keep a node.

  static ObservedPod decode(const Json& pod);
  /// Whether it may bring nodes.
  [[nodiscard]] bool asks_for_nodes() const;
  /// Whether it keeps the node where it runs.
  [[nodiscard]] bool keeps_node() const;
};

struct ObservedCluster {
  std::vector<ObservedPod> pods;  ///< Highest priority first, then oldest.
  std::map<std::string, sim::NodeInfo> nodes;
  std::map<std::string, StringMap> namespaces;
};

/// All objects of the type, of all namespaces.
[[nodiscard]] Result<std::vector<Json>> list_all(client::Reader& reader, const ResourceType& type);
[[nodiscard]] Result<ObservedCluster> observe_cluster(client::Reader& reader);

}  // namespace tpuslice::testing
