// PendingWrite: a thread waits until the strand of a connection has written something. Private to this folder.
#pragma once

#include "api/base/mutex.h"

namespace tpuslice::http {

/// Thread-safe.
class PendingWrite {
 public:
  /// False once a write has failed.
  [[nodiscard]] bool begin() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    pending_ = !failed_;
    return pending_;
  }
  void end(bool ok) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    pending_ = false;
    if (!ok) failed_ = true;
    ended_.notify_all();
  }
  /// Waits until end(); false if a write has failed.
  [[nodiscard]] bool wait() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ended_.wait(mutex_, [this]() TPUSLICE_REQUIRES(mutex_) { return !pending_; });
    return !failed_;
  }

 private:
  Mutex mutex_;
  ConditionVariable ended_;
  bool pending_ TPUSLICE_GUARDED_BY(mutex_) = false;
  bool failed_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

}  // namespace tpuslice::http
