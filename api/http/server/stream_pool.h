// StreamPool: the threads that feed open streams to their clients. Private to this folder.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "api/base/mutex.h"

namespace tpuslice::http {

/// Thread-safe. Threads are made when needed, up to a limit, and kept until stop().
class StreamPool {
 public:
  explicit StreamPool(int max_threads) : max_threads_(static_cast<std::size_t>(max_threads)) {}
  ~StreamPool() { stop(); }
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  /// Runs `job` at once on a thread of its own; false if all are busy.
  [[nodiscard]] bool submit(std::function<void()> job) TPUSLICE_EXCLUDES(mutex_);
  /// Waits for running jobs; the caller must have stopped them.
  void stop() TPUSLICE_EXCLUDES(mutex_);

 private:
  void work();

  const std::size_t max_threads_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::function<void()>> jobs_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t idle_ TPUSLICE_GUARDED_BY(mutex_) = 0;  ///< Threads that wait; each queued job has one of them.
  bool stopping_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::http
