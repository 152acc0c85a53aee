#include "api/http/client/parallel_limit.h"

#include <algorithm>

namespace tpuslice::http {
namespace {

constexpr int kTooManyRequests = 429;

}  // namespace

std::optional<Instant> ParallelLimit::enter(Instant until, const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  const auto below_limit = [this]() TPUSLICE_REQUIRES(mutex_) { return busy_ < limit_; };
  // Fast path: wait_for() registers a stop callback even if it need not wait.
  if (!below_limit() && !changed_.wait_for(mutex_, stop, until - clock_.now(), below_limit)) return std::nullopt;
  ++busy_;
  return clock_.now();
}

void ParallelLimit::leave(Instant entered, int status) {
  const MutexLock lock(mutex_);
  --busy_;
  if (status == kTooManyRequests) {
    // Requests that were under way together are refused together, which halves the limit once.
    if (entered >= halved_) {
      limit_ = std::max(1, limit_ / 2);
      halved_ = clock_.now();
    }
    answers_ = 0;
  } else if (status != 0 && limit_ < max_ && ++answers_ >= limit_) {
    ++limit_;
    answers_ = 0;
    changed_.notify_one();
  }
  changed_.notify_one();
}

int ParallelLimit::limit() const {
  const MutexLock lock(mutex_);
  return limit_;
}

int ParallelLimit::busy() const {
  const MutexLock lock(mutex_);
  return busy_;
}

}  // namespace tpuslice::http
