#include "controllers/runtime/parallel.h"

#include <algorithm>
#include <utility>

namespace tpuslice::runtime {

void InlineParallel::run(std::size_t count, std::size_t /*limit*/, const std::function<void(std::size_t)>& task) {
  for (std::size_t i = 0; i < count; ++i) task(i);
}

/// Shared by the caller and the pool's threads. A thread that starts late finds no index left and does not touch
/// `task`, which is in the caller's frame.
struct ThreadPool::Batch {
  Batch(std::size_t size, const std::function<void(std::size_t)>& body) : count(size), task(body) {}

  void drain() TPUSLICE_EXCLUDES(mutex) {
    while (true) {
      std::size_t index = 0;
      {
        const MutexLock lock(mutex);
        if (next == count) return;
        index = next++;
      }
      task(index);
      bool last = false;
      {
        const MutexLock lock(mutex);
        last = ++finished == count;
      }
      if (last) done.notify_all();
    }
  }

  const std::size_t count;
  const std::function<void(std::size_t)>& task;
  Mutex mutex;
  ConditionVariable done;
  std::size_t next TPUSLICE_GUARDED_BY(mutex) = 0;
  std::size_t finished TPUSLICE_GUARDED_BY(mutex) = 0;
};

ThreadPool::ThreadPool(std::size_t threads) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void ThreadPool::run(std::size_t count, std::size_t limit, const std::function<void(std::size_t)>& task) {
  if (count == 0) return;
  if (count == 1 || limit <= 1) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  const auto batch = std::make_shared<Batch>(count, task);
  const std::size_t threads = std::min({count, limit}) - 1;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < threads; ++i) waiting_.push_back(batch);
  }
  changed_.notify_all();
  batch->drain();
  const MutexLock lock(batch->mutex);
  batch->done.wait(batch->mutex,
                   [&batch]() TPUSLICE_REQUIRES(batch->mutex) { return batch->finished == batch->count; });
}

void ThreadPool::work(const std::stop_token& stop) {
  while (true) {
    std::shared_ptr<Batch> batch;
    {
      const MutexLock lock(mutex_);
      if (!changed_.wait(mutex_, stop, [this]() TPUSLICE_REQUIRES(mutex_) { return !waiting_.empty(); })) return;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
    }
    batch->drain();
  }
}

}  // namespace tpuslice::runtime
