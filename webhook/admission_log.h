// AdmissionLog: log lines of admission reviews, with the field names of controller-runtime's webhook server.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "webhook/admission_handler.h"

namespace tpuslice::webhook {

/// Refused reviews at level info, allowed ones at level debug. Any client can send reviews, so there are ten lines of
/// refusals a second at most; the next line has the number of those that were left out. Thread-safe.
class AdmissionLog {
 public:
  /// `clock` outlives it.
  AdmissionLog(Logger log, const Clock& clock) : log_(std::move(log)), clock_(clock) {}

  /// `path` is that of the request. Nothing is logged for a review without a uid.
  void record(std::string_view path, const AdmissionRecord& review) TPUSLICE_EXCLUDES(mutex_);

 private:
  const Logger log_;
  const Clock& clock_;
  Mutex mutex_;
  TokenBucket limit_ TPUSLICE_GUARDED_BY(mutex_){10, 50};
  std::uint64_t left_out_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::webhook
