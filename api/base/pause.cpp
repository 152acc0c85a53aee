#include "api/base/pause.h"

#include <algorithm>

#include "api/base/mutex.h"

namespace tpuslice {

void pause(Duration wait, const std::stop_token& stop) {
  constexpr Duration kMaxWait = std::chrono::hours(24);  // Now plus a longer wait could overflow.
  Mutex mutex;
  ConditionVariable stopped;
  const MutexLock lock(mutex);
  stopped.wait_for(mutex, stop, std::min(wait, kMaxWait), [] { return false; });
}

void wait_for_stop(const std::stop_token& stop) {
  Mutex mutex;
  ConditionVariable stopped;
  const MutexLock lock(mutex);
  stopped.wait(mutex, stop, [] { return false; });
}

}  // namespace tpuslice
