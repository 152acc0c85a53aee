// TokenBucket: limits how often something happens.
#pragma once

#include <algorithm>

#include "api/base/clock.h"

namespace tpuslice {

/// Has `burst` tokens at first, and gets one more in each interval while it is not full. Not thread-safe.
class TokenBucket {
 public:
  TokenBucket(double per_second, double burst) : interval_(1e9 / per_second), burst_(burst), tokens_(burst) {}
  TokenBucket(Duration interval, double burst)
      : interval_(static_cast<double>(interval.count())), burst_(burst), tokens_(burst) {}

  /// False, and nothing is taken, if there is no token.
  [[nodiscard]] bool try_take(Instant now) {
    fill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }
  /// Takes a token that may be filled in later only. Returns how long that takes.
  [[nodiscard]] Duration take(Instant now) {
    fill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) return Duration::zero();
    return Duration(static_cast<Duration::rep>(-tokens_ * interval_));
  }

  /// It is equal to a new one and can be dropped.
  [[nodiscard]] bool is_full(Instant now) const { return tokens_at(now) >= burst_; }
  /// When a token was last asked for.
  [[nodiscard]] Instant last_used() const { return filled_; }

 private:
  [[nodiscard]] double tokens_at(Instant now) const {
    const Duration elapsed = std::max(now - filled_, Duration::zero());
    return std::min(burst_, tokens_ + static_cast<double>(elapsed.count()) / interval_);
  }
  void fill(Instant now) {
    tokens_ = tokens_at(now);
    filled_ = std::max(filled_, now);
  }

  double interval_;  ///< In nanoseconds.
  double burst_;
  double tokens_;  ///< Negative: some were taken before they were filled in.
  Instant filled_;
};

}  // namespace tpuslice
