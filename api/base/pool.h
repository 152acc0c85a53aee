// Pool: objects that are expensive to make, kept for reuse by all threads together.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "api/base/mutex.h"

namespace tpuslice {

/// Unlike thread-local objects, the number of kept objects does not grow with the number of threads. Thread-safe.
template <typename T>
class Pool {
 public:
  /// Keeps at most `kept` objects that are not in use.
  explicit Pool(std::size_t kept) : kept_(kept) {}

  /// Returns what `use` returns, called with an object that is not used elsewhere meanwhile: the one that was used
  /// last, or a new one. The object is dropped if `use` throws.
  template <typename Use>
  auto with(Use use) {
    std::unique_ptr<T> object = take();
    if (object == nullptr) object = std::make_unique<T>();
    auto result = use(*object);
    put(std::move(object));
    return result;
  }

 private:
  std::unique_ptr<T> take() {
    const MutexLock lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<T> object = std::move(free_.back());
    free_.pop_back();
    return object;
  }

  void put(std::unique_ptr<T> object) {
    const MutexLock lock(mutex_);
    if (free_.size() < kept_) free_.push_back(std::move(object));
  }

  const std::size_t kept_;
  Mutex mutex_;
  std::vector<std::unique_ptr<T>> free_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice
