#include "controllers/runtime/object_counters.h"

namespace tpuslice::runtime {

void ObjectCounters::increment(const plan::Measurement& measured) {
  MetricLabels labels = measured.labels;
  {
    const MutexLock lock(mutex_);
    const std::pair series(measured.name, labels);
    if (!known_.contains(series)) {
      if (known_.size() < limit_) {
        known_.insert(series);
      } else {
        for (auto& [label, value] : labels) value.clear();
      }
    }
  }
  metrics_.counter(measured.name, measured.help, labels).increment(measured.value);
}

}  // namespace tpuslice::runtime
