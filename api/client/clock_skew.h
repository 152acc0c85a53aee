// ClockSkew: compares the clock of this machine with that of the API server, by the header Date of its answers.
//
// Certificates that the operator issues, and deadlines that it derives from times of the API server, depend on both.
#pragma once

#include <atomic>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/http/transport.h"

namespace tpuslice::client {

/// Thread-safe.
class ClockSkew {
 public:
  /// `metrics` and `clock` outlive it.
  ClockSkew(Metrics& metrics, const Clock& clock, Logger log);

  /// Sets tpuslice_clock_skew_seconds; logs a warning, at most once an hour, if it is a minute or more. `asked`: when
  /// the request was sent. The answer's Date lies between that and now: only what is outside of it is skew.
  void compare(const http::Headers& answer, Timestamp asked);

 private:
  Gauge& skew_;
  const Clock& clock_;
  const Logger log_;
  std::atomic<Instant> next_log_ = Instant::min();
};

}  // namespace tpuslice::client
