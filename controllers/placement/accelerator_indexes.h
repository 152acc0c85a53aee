// AcceleratorIndexes: indexes of pods and nodes by accelerator, which only placement reads.
#pragma once

#include "controllers/runtime/watch/pod_stores.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::placement {

/// The indexes skip pods that are not considered (slice.h) and nodes without TPUs.
struct AcceleratorIndexes {
  runtime::PodIndex pods;               ///< TPU pods, by the accelerator of their node selector.
  runtime::PodIndex waiting_pods;       ///< Those that are gated, and scouts.
  runtime::PodIndex scouts;             ///< Pods with the annotation of scouts.
  runtime::PodIndex pods_without_tpus;  ///< Bound pods, all under the key "".
  runtime::Index<NodeView> nodes;

  AcceleratorIndexes(const runtime::PodStores& pod_stores, runtime::NodeStore& node_store);
};

}  // namespace tpuslice::placement
