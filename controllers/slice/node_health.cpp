#include "controllers/slice/node_health.h"

namespace tpuslice::slice {

bool NodeHealth::counts_locked(const NodePtr& node) const {
  return node != nullptr && !node->minimal && !new_.contains(node->key.name);
}

void NodeHealth::record(const NodePtr& before, const NodePtr& after, Timestamp now) {
  const MutexLock lock(mutex_);
  if (is_disrupted_locked()) since_ = now;
  if (counts_locked(before)) {
    --nodes_;
    if (!before->ready) --not_ready_;
  }
  const std::string& name = (after == nullptr ? before : after)->key.name;
  if (after == nullptr || after->ready) {
    new_.erase(name);
    not_ready_since_.erase(name);
  } else if (before == nullptr) {
    if (now > start_ + kFirstList) new_.insert(name);
  } else if (before->ready) {
    not_ready_since_[name] = now;
  }
  if (counts_locked(after)) {
    ++nodes_;
    if (!after->ready) ++not_ready_;
  }
}

Timestamp NodeHealth::healthy_since(Timestamp now) const {
  const MutexLock lock(mutex_);
  return is_disrupted_locked() ? now : since_;
}

std::optional<Timestamp> NodeHealth::not_ready_since(const std::string& node) const {
  const MutexLock lock(mutex_);
  const auto found = not_ready_since_.find(node);
  return found == not_ready_since_.end() ? std::nullopt : std::optional(found->second);
}

bool NodeHealth::is_disrupted_locked() const {
  return not_ready_ > disrupted_nodes_ && not_ready_ * 100 >= nodes_ * disrupted_percent_;
}

}  // namespace tpuslice::slice
