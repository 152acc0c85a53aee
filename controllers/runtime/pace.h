// Pace: how soon a key may be reconciled again because of changes. A part of WorkQueue.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "api/base/clock.h"
#include "api/types/object.h"

namespace tpuslice::runtime {

/// A key is held for some time after each of its reconciles, and its changes wait until then. A value: not thread-safe.
class Pace {
 public:
  /// `shortest`: how long a key is held from the start of its reconcile. `by_plan`: how long from the end of its plan,
  /// as a multiple of what that took. See WorkQueueOptions.
  Pace(Duration shortest, int by_plan) : shortest_(shortest), by_plan_(by_plan) {}

  /// A reconcile of the key starts. Drops the keys that are no longer held.
  void started(const ObjectKey& key, Instant now);
  /// The plan of the key took that long. Returns until when changes that came during the plan wait; nothing if they do
  /// not have to.
  [[nodiscard]] std::optional<Instant> planned(const ObjectKey& key, Duration took, Instant now);
  /// When a change of the key may be handled: `now` if the key is not held.
  [[nodiscard]] Instant next(const ObjectKey& key, Instant now) const;

  /// Number of keys that it remembers.
  [[nodiscard]] std::size_t size() const { return held_until_.size(); }

 private:
  void hold(const ObjectKey& key, Instant until);
  void drop_past(Instant now);

  Duration shortest_;
  int by_plan_;
  std::unordered_map<ObjectKey, Instant> held_until_;
  /// held_until_ in insertion order, for clean-up. A long hold only delays the removal of the entries behind it.
  std::deque<std::pair<Instant, ObjectKey>> in_order_;
};

}  // namespace tpuslice::runtime
