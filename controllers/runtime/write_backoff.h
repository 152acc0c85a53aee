// WriteBackoff: the failed writes (controllers/plan/failed_writes.h) of one or more controllers, in the leader's
// memory.
#pragma once

#include <memory>
#include <optional>

#include "api/base/mutex.h"
#include "controllers/plan/failed_writes.h"
#include "controllers/runtime/executor.h"

namespace tpuslice::runtime {

/// Thread-safe.
class WriteBackoff {
 public:
  /// The failed writes as of now; never null. An input of plans.
  [[nodiscard]] std::shared_ptr<const plan::FailedWrites> failed_writes() const TPUSLICE_EXCLUDES(mutex_);

  /// What has failed of one plan.
  struct Failures {
    std::size_t count = 0;
    bool keeps_failing = false;              ///< One of them, so the next plan may decide otherwise.
    std::optional<Timestamp> retry_at = {};  ///< When the first is due again.
  };
  // NOLINTNEXTLINE(modernize-use-nodiscard): called for what it records
  Failures record(const plan::Plan& plan, const ExecutionReport& report, Timestamp now) TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  /// Readers share it, so it is replaced and not changed.
  std::shared_ptr<const plan::FailedWrites> current_ TPUSLICE_GUARDED_BY(mutex_) =
      std::make_shared<const plan::FailedWrites>();
};

}  // namespace tpuslice::runtime
