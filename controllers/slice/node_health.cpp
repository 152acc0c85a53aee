#include "controllers/slice/node_health.h"

namespace tpuslice::slice {

void NodeHealth::record(const NodePtr& before, const NodePtr& after) {
  const MutexLock lock(mutex_);
  if (before != nullptr) {
    --nodes_;
    if (!before->ready) --not_ready_;
  }
  if (after != nullptr) {
    ++nodes_;
    if (!after->ready) ++not_ready_;
  }
}

bool NodeHealth::is_disrupted(const Options& options) const {
  const MutexLock lock(mutex_);
  return not_ready_ > options.disrupted_nodes && not_ready_ * 100 >= nodes_ * options.disrupted_percent;
}

}  // namespace tpuslice::slice
