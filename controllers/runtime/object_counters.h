// ObjectCounters: counters that have a series for each object, as those of upstream's operators.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "controllers/plan/plan.h"

namespace tpuslice::runtime {

/// A series stays until the program ends, as in upstream's operators. When there are `limit` of them, further objects
/// are counted together, in the series whose labels are empty, so that sums are right. Thread-safe.
class ObjectCounters {
 public:
  /// `metrics` outlives this object.
  explicit ObjectCounters(Metrics& metrics, std::size_t limit = 10'000) : metrics_(metrics), limit_(limit) {}

  void increment(const plan::Measurement& measured) TPUSLICE_EXCLUDES(mutex_);

 private:
  Metrics& metrics_;
  const std::size_t limit_;
  Mutex mutex_;
  std::set<std::pair<std::string, MetricLabels>> known_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
