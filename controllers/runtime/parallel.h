// Parallel: runs the actions of one stage. Inline in tests and the simulator, on threads in the operator.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "api/base/mutex.h"

namespace tpuslice::runtime {

class Parallel {
 public:
  virtual ~Parallel() = default;
  /// Calls task(0) .. task(count - 1), at most `limit` at a time and each once; returns when all have returned.
  /// Started in order. Tasks must not throw.
  virtual void run(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& task) = 0;
};

/// Runs tasks one after another on the caller's thread, in order.
class InlineParallel final : public Parallel {
 public:
  void run(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& task) override;
};

/// A fixed number of threads shared by all callers. Thread-safe.
///
/// The caller also runs its own tasks, so a busy pool slows a caller down but never blocks it.
class ThreadPool final : public Parallel {
 public:
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void run(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& task) override;

 private:
  struct Batch;
  void work(const std::stop_token& stop);

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::shared_ptr<Batch>> waiting_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;  // last: joined before the members they use are destroyed
};

}  // namespace tpuslice::runtime
