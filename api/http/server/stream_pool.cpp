#include "api/http/server/stream_pool.h"

#include <utility>

namespace tpuslice::http {

bool StreamPool::submit(std::function<void()> job) {
  const MutexLock lock(mutex_);
  if (stopping_) return false;
  if (idle_ <= jobs_.size()) {
    if (threads_.size() >= max_threads_) return false;
    threads_.emplace_back([this] { work(); });
    ++idle_;  // The new thread, before it has run.
  }
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void StreamPool::work() {
  while (true) {
    std::function<void()> job;
    {
      const MutexLock lock(mutex_);
      changed_.wait(mutex_, [this]() TPUSLICE_REQUIRES(mutex_) { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      --idle_;
    }
    job();
    job = nullptr;  // Release what it holds before the thread counts as idle.
    const MutexLock lock(mutex_);
    ++idle_;
  }
}

void StreamPool::stop() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace tpuslice::http
