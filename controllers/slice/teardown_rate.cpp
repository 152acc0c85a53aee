#include "controllers/slice/teardown_rate.h"

namespace tpuslice::slice {

Timestamp TeardownRate::turn_of(const ObjectKey& slice, Timestamp now) {
  if (unlimited_) return now;
  const MutexLock lock(mutex_);
  const auto [turn, is_new] = turns_.try_emplace(slice, now);
  if (is_new) turn->second += bucket_.take(Instant(now.time_since_epoch()));
  return turn->second;
}

void TeardownRate::forget(const ObjectKey& slice) {
  const MutexLock lock(mutex_);
  turns_.erase(slice);
}

}  // namespace tpuslice::slice
