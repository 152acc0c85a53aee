#include "controllers/slice/node_health.h"

namespace tpuslice::slice {
namespace {

/// Whether the node is Ready or not; neither if its view is minimal.
bool counts(const NodePtr& node) { return node != nullptr && !node->minimal; }

}  // namespace

void NodeHealth::record(const NodePtr& before, const NodePtr& after, Timestamp now) {
  const MutexLock lock(mutex_);
  if (is_disrupted_locked()) since_ = now;
  if (counts(before)) {
    --nodes_;
    if (!before->ready) --not_ready_;
  }
  if (counts(after)) {
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
