// ProcessMetrics: what Prometheus' client libraries measure of their process, under the same names.
#pragma once

#include "api/base/clock.h"
#include "api/base/metrics.h"

namespace tpuslice {

/// Measures at each scrape, until it is destroyed.
class ProcessMetrics {
 public:
  /// `metrics` outlives it.
  ProcessMetrics(Metrics& metrics, const Clock& clock);
  ~ProcessMetrics();
  ProcessMetrics(const ProcessMetrics&) = delete;
  ProcessMetrics& operator=(const ProcessMetrics&) = delete;

 private:
  void update() const;

  Metrics& registry_;
  Counter& cpu_seconds_;
  Gauge& resident_bytes_;
  Gauge& open_fds_;
};

}  // namespace tpuslice
