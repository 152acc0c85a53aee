// RateLimiter: a token bucket.
#pragma once

#include <algorithm>

#include "api/base/clock.h"

namespace tpuslice {

/// Allows `burst` calls at once and `per_second` in the long run. Not thread-safe.
class RateLimiter {
 public:
  RateLimiter(double per_second, double burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}

  /// False if the call is to be refused.
  [[nodiscard]] bool try_acquire(Instant now) {
    tokens_ = tokens_at(now);
    filled_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  /// The bucket is full: it is equal to a new one and can be dropped.
  [[nodiscard]] bool idle(Instant now) const { return tokens_at(now) >= burst_; }

 private:
  [[nodiscard]] double tokens_at(Instant now) const {
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    return std::min(burst_, tokens_ + std::max(0.0, seconds) * per_second_);
  }

  double per_second_;
  double burst_;
  double tokens_;
  Instant filled_;
};

}  // namespace tpuslice
