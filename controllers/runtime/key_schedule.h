// KeySchedule: keys and the times at which they are due. A part of WorkQueue.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::runtime {

/// Each key has one time. A value: not thread-safe.
class KeySchedule {
 public:
  using ByTime = std::set<std::pair<Instant, ObjectKey>>;

  /// The key is due at `due`; of several times the earliest counts. True if it is now the first, for which a worker may
  /// have to wake up sooner.
  bool add(const ObjectKey& key, Instant due);
  /// If the key is due before `until`, it is due then.
  void postpone(const ObjectKey& key, Instant until);
  /// Removes the first key and returns it, if it is due.
  [[nodiscard]] std::optional<ObjectKey> pop(Instant now);

  [[nodiscard]] bool empty() const { return by_time_.empty(); }
  /// When the first key is due; kNever without any key.
  [[nodiscard]] Instant first_due() const { return empty() ? kNever : by_time_.begin()->first; }
  /// When the key is due, if it is scheduled.
  [[nodiscard]] std::optional<Instant> due(const ObjectKey& key) const;
  /// The next first.
  [[nodiscard]] const ByTime& by_time() const { return by_time_; }

 private:
  std::unordered_map<ObjectKey, Instant> due_;
  ByTime by_time_;  ///< The same as `due_`.
};

}  // namespace tpuslice::runtime
