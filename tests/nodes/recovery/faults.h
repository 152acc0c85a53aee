// The faults that a slice recovers from.
#pragma once

#include <array>
#include <string_view>

#include "tests/nodes/node_cluster.h"
#include "tests/nodes/recovery/recovery_watch.h"

namespace tpuslice::bench {

struct Fault {
  std::string_view name;  ///< "pod-evicted"
  Status (*inject)(testing::NodeCluster& cluster, const HostPod& victim);
  /// Makes the node usable again; null if it is.
  Status (*repair)(testing::NodeCluster& cluster, const HostPod& victim) = nullptr;
  bool node_lost = false;  ///< Pods of the node are not deleted by its kubelet.
};

[[nodiscard]] const std::array<Fault, 6>& faults();

}  // namespace tpuslice::bench
