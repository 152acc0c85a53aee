// status.executionAttempts: how often the JobSet has been executed again, after a restart of all Jobs or after a
// suspension. Jobs and pods have it as annotation, so that logs of two executions are not mixed up.
#pragma once

#include <optional>

#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/jobset_status.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {

struct ExecutionAttempts {
  /// The number of this execution, unless all Jobs restart; absent if the JobSet has never been executed.
  std::optional<int> current;
  /// The JobSet is resumed, and the status has another number: it is written before a pod can have the new one.
  bool resumed = false;
};

/// While the JobSet is suspended, that of the last execution.
///
/// The condition Suspended stays True until all Jobs are resumed, so it does not say whether the resume was counted. It
/// was if a Job runs again, or if the status has a larger number than the Jobs that are suspended.
[[nodiscard]] ExecutionAttempts count_attempts(const JobSetSpec& spec, const JobSetStatus& status,
                                               const ChildJobs& children);

/// The next number when all Jobs restart. `restarts` includes this restart.
[[nodiscard]] int attempt_after_restart(std::optional<int> attempts, int restarts);

}  // namespace tpuslice::jobset
