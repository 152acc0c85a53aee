// RemovedHostHistory: hosts that succeeded and were then deleted while others of their slice run on, as the watches
// showed it. Such a slice has lost nothing. For the next leader, it is recorded on a host that runs
// (tpu::kRemovedHosts).
#pragma once

#include <deque>

#include "api/base/mutex.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

/// Thread-safe.
class RemovedHostHistory {
 public:
  /// Beyond it, the slice with the oldest record is dropped.
  static constexpr std::size_t kMaxSlices = 1000;

  void record(const ObjectKey& slice, int host, std::string uid) TPUSLICE_EXCLUDES(mutex_);
  /// The removed hosts of this slice only.
  [[nodiscard]] RemovedHosts of(const ObjectKey& slice) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] RemovedHosts all() const TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  RemovedHosts hosts_ TPUSLICE_GUARDED_BY(mutex_);
  std::deque<ObjectKey> order_ TPUSLICE_GUARDED_BY(mutex_);  ///< The oldest is first.
};

/// Whether this change of a pod is the deletion of a host that had succeeded.
[[nodiscard]] bool is_removal_of_succeeded_host(const PodPtr& before, const PodPtr& after);

}  // namespace tpuslice::slice
