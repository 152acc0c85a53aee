#include "controllers/runtime/backoff.h"

#include <algorithm>

#include "api/base/mutex.h"

namespace tpuslice::runtime {

void pause(Duration wait, const std::stop_token& stop) {
  // An Instant far away must not overflow the wait; whoever pauses looks at the clock again anyway.
  constexpr Duration longest = std::chrono::minutes(1);
  Mutex mutex;
  ConditionVariable never;
  const MutexLock lock(mutex);
  never.wait_for(mutex, stop, std::min(wait, longest), [] { return false; });
}

}  // namespace tpuslice::runtime
