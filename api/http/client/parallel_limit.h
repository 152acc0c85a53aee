// ParallelLimit: how many requests are under way at a time. Private to this folder.
#pragma once

#include <optional>
#include <stop_token>

#include "api/base/clock.h"
#include "api/base/mutex.h"

namespace tpuslice::http {

/// A semaphore with a deadline, whose limit is halved when the server answers 429 Too Many Requests, and grows by one
/// after as many other answers as it allows requests (additive increase, multiplicative decrease, as TCP). Thread-safe.
class ParallelLimit {
 public:
  ParallelLimit(int max, const Clock& clock) : clock_(clock), max_(max), limit_(max) {}

  /// When it entered; nullopt if the limit was reached until `until`, or on stop.
  [[nodiscard]] std::optional<Instant> enter(Instant until, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// `status` is that of the answer, 0 without one.
  void leave(Instant entered, int status) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] int limit() const TPUSLICE_EXCLUDES(mutex_);
  /// Number of requests under way.
  [[nodiscard]] int busy() const TPUSLICE_EXCLUDES(mutex_);

 private:
  const Clock& clock_;
  const int max_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  int limit_ TPUSLICE_GUARDED_BY(mutex_);
  int busy_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  int answers_ TPUSLICE_GUARDED_BY(mutex_) = 0;  ///< Other than 429, since the limit changed.
  Instant halved_ TPUSLICE_GUARDED_BY(mutex_) = Instant::min();
};

}  // namespace tpuslice::http
