#include "tests/support/autoscaler/autoscaler_thread.h"

#include <algorithm>

#include "api/base/pause.h"

namespace tpuslice::testing {

Status AutoscalerThread::start() {
  if (thread_.joinable()) return {};
  {
    const MutexLock lock(mutex_);
    autoscaler_.step(clock_.now());
    RETURN_IF_ERROR(autoscaler_.last_error());
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return {};
}

void AutoscalerThread::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Instant due;
    {
      const MutexLock lock(mutex_);
      const Instant begin = clock_.now();
      due = autoscaler_.step(begin);
      longest_step_ = std::max(longest_step_, clock_.now() - begin);
    }
    tpuslice::pause(due - clock_.now(), stop);
  }
}

Status AutoscalerThread::set_capacity(const std::string& group, bool capacity) {
  const MutexLock lock(mutex_);
  return autoscaler_.set_capacity(group, capacity);
}

Status AutoscalerThread::remove_all() {
  stop();
  const MutexLock lock(mutex_);
  return autoscaler_.remove_all();
}

AutoscalerCounts AutoscalerThread::counts() const {
  const MutexLock lock(mutex_);
  return autoscaler_.counts();
}

Status AutoscalerThread::last_error() const {
  const MutexLock lock(mutex_);
  return autoscaler_.last_error();
}

Duration AutoscalerThread::longest_step() const {
  const MutexLock lock(mutex_);
  return longest_step_;
}

}  // namespace tpuslice::testing
