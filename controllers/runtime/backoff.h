// Backoff: growing waits between failures. kNever: a step has nothing scheduled.
#pragma once

#include <optional>

#include "api/base/clock.h"
#include "api/base/random.h"

namespace tpuslice::runtime {

/// Returned by a step that waits for an outside event only.
inline constexpr Instant kNever = Instant::max();

struct BackoffOptions {
  Duration first = std::chrono::milliseconds(800);
  Duration cap = std::chrono::seconds(30);
  double jitter = 1.0;                             ///< Up to this fraction is added to every wait.
  Duration reset_after = std::chrono::minutes(2);  ///< Starts again at `first` after this long without a failure.
};

/// Doubling waits between failures; the defaults are those of the Kubernetes reflector. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(BackoffOptions options) : options_(options), base_(options.first) {}

  /// How long to wait after a failure at `now`.
  [[nodiscard]] Duration next(Instant now, Random& random) {
    if (last_ && now - *last_ > options_.reset_after) base_ = options_.first;
    const Duration base = base_;
    base_ = base_ < options_.cap / 2 ? base_ * 2 : options_.cap;
    const Duration wait = random.jitter(base, options_.jitter);
    last_ = now + wait;
    return wait;
  }

 private:
  const BackoffOptions options_;
  Duration base_;
  std::optional<Instant> last_;
};

}  // namespace tpuslice::runtime
