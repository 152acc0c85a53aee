// Indexes of pods and nodes that the reconcilers of slices read.
#pragma once

#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::slice {

/// The indexes of pods and nodes. They skip pods that are not considered (slice.h) and nodes without TPUs.
struct Indexes {
  runtime::PodIndex pods_by_accelerator;          ///< TPU pods, by the accelerator of their node selector.
  runtime::PodIndex waiting_pods_by_accelerator;  ///< Those that are gated, and scouts.
  runtime::PodIndex scouts_by_accelerator;        ///< Pods with the annotation of scouts.
  runtime::PodIndex bound_pods_without_tpus;      ///< All under the key "".
  runtime::PodIndex pods_by_node;
  runtime::PodIndex pods_by_slice;  ///< "<namespace>/<slice key>"
  runtime::Index<NodeView> nodes_by_accelerator;

  Indexes(const runtime::PodStores& pods, runtime::NodeStore& nodes);
};

}  // namespace tpuslice::slice
