#include "controllers/slice/removed_hosts.h"

#include <utility>

namespace tpuslice::slice {

void RemovedHostHistory::record(const ObjectKey& slice, int host, std::string uid) {
  const MutexLock lock(mutex_);
  const auto [entry, is_new] = hosts_.try_emplace(slice);
  entry->second[host] = std::move(uid);
  if (!is_new) return;
  order_.push_back(slice);
  if (order_.size() <= kMaxSlices) return;
  hosts_.erase(order_.front());
  order_.pop_front();
}

RemovedHosts RemovedHostHistory::of(const ObjectKey& slice) const {
  const MutexLock lock(mutex_);
  const auto found = hosts_.find(slice);
  return found == hosts_.end() ? RemovedHosts() : RemovedHosts{*found};
}

RemovedHosts RemovedHostHistory::all() const {
  const MutexLock lock(mutex_);
  return hosts_;
}

bool is_removal_of_succeeded_host(const PodPtr& before, const PodPtr& after) {
  return before != nullptr && after == nullptr && before->phase == PodPhase::kSucceeded && in_slice(*before) &&
         host_index(*before).has_value();
}

}  // namespace tpuslice::slice
