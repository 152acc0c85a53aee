// RecentPlans: the last plan of each key that was planned lately.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/base/mutex.h"
#include "controllers/runtime/key_report.h"

namespace tpuslice::runtime {

/// Forgets the key that was planned the longest time ago when there are too many; texts are shortened. Thread-safe.
class RecentPlans {
 public:
  static constexpr std::size_t kMaxKeys = 1000;
  static constexpr std::size_t kMaxText = 512;  ///< Bytes of a reason or an error.

  void record(const ObjectKey& key, LastPlan plan) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::optional<LastPlan> of(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  /// The last first.
  [[nodiscard]] std::vector<ObjectKey> keys() const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Entry {
    ObjectKey key;
    LastPlan plan;
  };

  mutable Mutex mutex_;
  std::list<Entry> entries_ TPUSLICE_GUARDED_BY(mutex_);  ///< The last first.
  std::unordered_map<ObjectKey, std::list<Entry>::iterator> by_key_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
