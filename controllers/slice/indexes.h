// Indexes of pods and the lookup of nodes for the reconcilers of slices and of placement.
#pragma once

#include <string>

#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// The indexes of pods that are considered (slice.h).
struct Indexes {
  runtime::PodIndex pods_by_node;
  runtime::PodIndex pods_by_slice;  ///< "<namespace>/<slice key>"

  explicit Indexes(const runtime::PodStores& pods);
};

/// Null if the node does not exist or has no TPUs.
[[nodiscard]] NodePtr find_tpu_node(const runtime::NodeStore& nodes, const std::string& name);

}  // namespace tpuslice::slice
