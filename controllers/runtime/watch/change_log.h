// ChangeLog: what has changed in a store since a reader last looked, for readers that keep what they derived from it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "api/base/mutex.h"

namespace tpuslice::runtime {

/// Thread-safe. A store records each change before a reader can see it, so take() returns all changes that were visible
/// when it was called. A later read of the store may show further ones, which the next take() returns.
template <typename View>
class ChangeLog {
 public:
  using Ptr = std::shared_ptr<const View>;

  struct Taken {
    /// The changes in order; `before` is null for an addition, `after` for a deletion.
    std::vector<std::pair<Ptr, Ptr>> list;
    bool complete = true;  ///< False: more than kMaxChanges, and `list` is empty. Everything may have changed.
  };
  /// Beyond it, reading all objects costs less than to follow the changes.
  static constexpr std::size_t kMaxChanges = 4096;

  /// Nothing is recorded before, and after stop().
  void start() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    recording_ = true;
  }
  void stop() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    recording_ = false;
    changes_ = {};
  }
  /// The changes since the last call.
  [[nodiscard]] Taken take() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::exchange(changes_, {});
  }

  /// Called by the store.
  void record(const Ptr& before, const Ptr& after) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (!recording_ || !changes_.complete) return;
    if (changes_.list.size() == kMaxChanges) {
      changes_ = {{}, false};
    } else {
      changes_.list.emplace_back(before, after);
    }
  }

 private:
  Mutex mutex_;
  bool recording_ TPUSLICE_GUARDED_BY(mutex_) = false;
  Taken changes_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
