#include "controllers/slice/node_health.h"

namespace tpuslice::slice {

void NodeHealth::record(const NodePtr& before, const NodePtr& after, Timestamp now) {
  const MutexLock lock(mutex_);
  if (is_disrupted_locked()) since_ = now;
  if (before != nullptr) {
    --nodes_;
    if (!before->ready) --not_ready_;
  }
  if (after != nullptr) {
    ++nodes_;
    if (!after->ready) ++not_ready_;
  }
}

Timestamp NodeHealth::healthy_since(Timestamp now) const {
  const MutexLock lock(mutex_);
  return is_disrupted_locked() ? now : since_;
}

bool NodeHealth::is_disrupted_locked() const {
  return not_ready_ > disrupted_nodes_ && not_ready_ * 100 >= nodes_ * disrupted_percent_;
}

}  // namespace tpuslice::slice
