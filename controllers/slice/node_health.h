// NodeHealth: whether so many TPU nodes are not Ready that the cause is the control plane or its network, not the
// nodes. The pods on such nodes usually run on, so no slice is torn down for them.
#pragma once

#include <cstdint>

#include "api/base/mutex.h"
#include "controllers/slice/options.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// Thread-safe.
class NodeHealth {
 public:
  /// A change of a TPU node: `before` is null for an addition, `after` for a deletion.
  void record(const NodePtr& before, const NodePtr& after) TPUSLICE_EXCLUDES(mutex_);

  /// More than Options::disrupted_nodes nodes, and at least Options::disrupted_percent of all, are not Ready.
  [[nodiscard]] bool is_disrupted(const Options& options) const TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::int64_t nodes_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::int64_t not_ready_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::slice
