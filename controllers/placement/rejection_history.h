// RejectionHistory: the placements that kube-scheduler rejected, as the watches showed it. Each replica keeps
// its own in memory: one that was just started has an empty history.
#pragma once

#include <memory>

#include "api/base/mutex.h"
#include "controllers/placement/rejection.h"

namespace tpuslice::placement {

/// Thread-safe.
class RejectionHistory {
 public:
  /// Rejections of one slice within this time count once: they are those of its pods.
  static constexpr Duration kSameRejection = std::chrono::seconds(30);
  /// A reason that may pass counts if the pod has waited for this long.
  static constexpr Duration kPasses = std::chrono::minutes(10);
  /// Beyond it, the slice that was rejected first is dropped.
  static constexpr std::size_t kMaxSlices = 1000;

  /// Records that a placed pod was deleted before it got a node.
  void record(const PodPtr& before, const PodPtr& after, Timestamp now) TPUSLICE_EXCLUDES(mutex_);
  /// Records that a node was repaired, or changed in another way that kube-scheduler looks at; not that it became
  /// Ready, which may happen all the time.
  void record(const NodePtr& before, const NodePtr& after) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::shared_ptr<const RejectedSlices> rejected() const TPUSLICE_EXCLUDES(mutex_);

 private:
  [[nodiscard]] RejectedSlices& writable_locked() TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  /// Copied before a change only while a plan reads it.
  std::shared_ptr<RejectedSlices> slices_ TPUSLICE_GUARDED_BY(mutex_) = std::make_shared<RejectedSlices>();
};

}  // namespace tpuslice::placement
