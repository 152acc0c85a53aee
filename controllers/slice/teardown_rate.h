// TeardownRate: how fast slices are torn down for lost nodes, so that a fault of a whole zone that does not look like a
// disruption (node_health.h) ends only a few slices before an administrator sees it.
#pragma once

#include <map>

#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "api/types/object.h"
#include "controllers/slice/slice_options.h"

namespace tpuslice::slice {

/// Thread-safe.
class TeardownRate {
 public:
  explicit TeardownRate(const Options& options)
      : unlimited_(options.teardown_interval <= Duration::zero()),
        bucket_(unlimited_ ? std::chrono::seconds(1) : options.teardown_interval, kBurst) {}

  /// When the slice, which has a lost node, may be torn down. The same in all calls until forget(): slices take their
  /// turns in the order of the first.
  [[nodiscard]] Timestamp turn_of(const ObjectKey& slice, Timestamp now) TPUSLICE_EXCLUDES(mutex_);
  /// The slice has no lost node. Its turn is not given to another.
  void forget(const ObjectKey& slice) TPUSLICE_EXCLUDES(mutex_);

 private:
  /// So many are torn down at once.
  static constexpr double kBurst = 10;

  const bool unlimited_;
  Mutex mutex_;
  TokenBucket bucket_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<ObjectKey, Timestamp> turns_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::slice
