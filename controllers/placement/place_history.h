// PlaceHistory: where slices that have lost pods ran, and since when they or their predecessors wait for nodes, as the
// watches showed it. A slice that restarts keeps its place in the queue and, for a while, its domain. Each
// replica keeps its own in memory: one that was just started knows what the pods that still exist say.
#pragma once

#include <memory>

#include "api/base/mutex.h"
#include "controllers/placement/former_place.h"

namespace tpuslice::placement {

/// Thread-safe.
class PlaceHistory {
 public:
  /// A place that was left earlier is forgotten. The pods that wait for nodes again have it by then
  /// (tpuslice.dev/queued-since).
  static constexpr Duration kWindow = std::chrono::minutes(10);
  /// Beyond it, the place that was left first is dropped.
  static constexpr std::size_t kMaxSlices = 10'000;

  /// A change of a pod, which is on `node` if that is not null. Records the place of a slice that loses it, also while
  /// it waits, and forgets the place of a slice that is placed again.
  void record(const PodPtr& before, const PodPtr& after, const NodePtr& node, Timestamp now) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::shared_ptr<const FormerPlaces> places() const TPUSLICE_EXCLUDES(mutex_);

 private:
  [[nodiscard]] FormerPlaces& writable_locked() TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  /// Copied before a change only while a plan reads it.
  std::shared_ptr<FormerPlaces> places_ TPUSLICE_GUARDED_BY(mutex_) = std::make_shared<FormerPlaces>();
  Timestamp cleaned_ TPUSLICE_GUARDED_BY(mutex_);  ///< When those that were left long ago were last dropped.
};

}  // namespace tpuslice::placement
