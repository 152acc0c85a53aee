#include "cmd/tpu-slice-sim/cluster/due_keys.h"

namespace tpuslice::sim {

void DueKeys::add(const ObjectKey& key, Instant when) {
  const auto known = due_.find(key);
  if (known != due_.end() && known->second <= when) return;
  remove(key);
  due_.emplace(key, when);
  queue_.emplace(when, key);
}

void DueKeys::remove(const ObjectKey& key) {
  const auto known = due_.find(key);
  if (known == due_.end()) return;
  queue_.erase({known->second, key});
  due_.erase(known);
}

void DueKeys::clear() {
  due_.clear();
  queue_.clear();
}

std::vector<ObjectKey> DueKeys::take(Instant now) {
  std::vector<ObjectKey> out;
  while (!queue_.empty() && queue_.begin()->first <= now) {
    out.push_back(queue_.begin()->second);
    due_.erase(out.back());
    queue_.erase(queue_.begin());
  }
  return out;
}

std::optional<Instant> DueKeys::next() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first;
}

}  // namespace tpuslice::sim
