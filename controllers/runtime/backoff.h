// Backoff and kNever: the small parts of waiting.
#pragma once

#include <optional>
#include <stop_token>

#include "api/base/clock.h"
#include "api/base/random.h"

namespace tpuslice::runtime {

/// What a step returns when nothing but an outside event gives it work.
inline constexpr Instant kNever = Instant::max();

/// Returns after `wait`, or at once on stop. How the thread of a stepped part waits until it is due.
void pause(Duration wait, const std::stop_token& stop);

struct BackoffOptions {
  Duration first = std::chrono::milliseconds(800);
  Duration cap = std::chrono::seconds(30);
  double jitter = 1.0;                       ///< Up to this fraction is added to every wait.
  Duration quiet = std::chrono::minutes(2);  ///< After this long without a failure it starts over.
};

/// Doubling waits between failures; the defaults are those of the Kubernetes reflector. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(BackoffOptions options) : options_(options), base_(options.first) {}

  /// How long to wait after a failure at `now`.
  [[nodiscard]] Duration next(Instant now, Random& random) {
    if (last_ && now - *last_ > options_.quiet) base_ = options_.first;
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
