// Indexes of pods that the reconcilers of slices and of placement read.
#pragma once

#include "controllers/runtime/watch/pod_stores.h"

namespace tpuslice::slice {

/// The indexes of pods that are considered (slice.h).
struct Indexes {
  runtime::PodIndex pods_by_node;
  runtime::PodIndex pods_by_slice;  ///< "<namespace>/<slice key>"

  explicit Indexes(const runtime::PodStores& pods);
};

}  // namespace tpuslice::slice
