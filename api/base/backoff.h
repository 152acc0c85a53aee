// Back-off: how long to wait after failures in a row.
#pragma once

#include <algorithm>
#include <optional>

#include "api/base/clock.h"
#include "api/base/random.h"

namespace tpuslice {

/// `first` after one failure, doubled for each further one, at most `max`; zero without a failure.
[[nodiscard]] constexpr Duration exponential_backoff(int failures, Duration first, Duration max) {
  if (failures <= 0) return Duration::zero();
  Duration wait = first;
  for (int i = 1; i < failures && wait < max; ++i) wait *= 2;
  return std::min(wait, max);
}

struct BackoffOptions {
  Duration first = std::chrono::milliseconds(800);
  Duration cap = std::chrono::seconds(30);
  double jitter = 1.0;                             ///< Up to this fraction is added to every wait.
  Duration reset_after = std::chrono::minutes(2);  ///< Starts again at `first` after this long without a failure.
};

/// Counts the failures and adds jitter; the defaults are those of the Kubernetes reflector. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(BackoffOptions options) : options_(options) {}

  /// How long to wait after a failure at `now`.
  [[nodiscard]] Duration next(Instant now, Random& random) {
    if (last_ && now - *last_ > options_.reset_after) wait_ = Duration::zero();
    wait_ = wait_ == Duration::zero() ? exponential_backoff(1, options_.first, options_.cap)
                                      : exponential_backoff(2, wait_, options_.cap);
    const Duration wait = random.jitter(wait_, options_.jitter);
    last_ = now + wait;
    return wait;
  }

 private:
  const BackoffOptions options_;
  Duration wait_ = Duration::zero();  ///< The last one, without jitter.
  std::optional<Instant> last_;
};

}  // namespace tpuslice
