// Rotated: a credential in files that another program replaces, such as the kubelet or cert-manager.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/result.h"

namespace tpuslice::client {

/// Thread-safe.
template <typename T>
class Rotated {
 public:
  static constexpr Duration kReread = std::chrono::seconds(60);

  /// `read` reads the files and checks what they hold. `clock` outlives this object.
  Rotated(std::function<Result<T>()> read, const Clock& clock) : read_(std::move(read)), clock_(clock) {}

  /// Read at most once a minute, and now if `refresh`. A failed read keeps the last value.
  ///
  /// Errors: those of `read`, until it has succeeded once.
  [[nodiscard]] Result<T> get(bool refresh) TPUSLICE_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (!refresh && value_ && clock_.now() - read_at_ < kReread) return *value_;
    }
    // Read without the lock; that two threads may read at once does no harm.
    const Instant now = clock_.now();
    Result<T> fresh = read_();
    const MutexLock lock(mutex_);
    read_at_ = now;
    if (!fresh) return value_ ? Result<T>(*value_) : fresh;
    value_ = *std::move(fresh);
    return *value_;
  }

 private:
  const std::function<Result<T>()> read_;
  const Clock& clock_;
  Mutex mutex_;
  std::optional<T> value_ TPUSLICE_GUARDED_BY(mutex_);
  Instant read_at_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::client
