#include "controllers/jobset/execution_attempts.h"

#include <algorithm>

#include "api/base/strings.h"
#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

/// The attempt that the Job was created or resumed for; absent if that was before the JobSet was executed.
std::optional<int> attempt_of(const JobView& job) { return parse_count(job.annotation(kExecutionAttempt)); }

int next(int attempts) {
  add_one(attempts);
  return attempts;
}

/// Whether the resume of a JobSet that was executed before is still to be counted.
bool is_uncounted(int attempts, const ChildJobs& children) {
  const auto is_of_last = [&](const JobPtr& job) { return attempt_of(*job) >= attempts; };
  if (!children.active.empty()) {
    const bool runs =
        std::ranges::any_of(children.active, [](const JobPtr& job) { return !job->suspended && !job->deletion; });
    return !runs && std::ranges::any_of(children.active, is_of_last);
  }
  const auto is_earlier = [&](const JobPtr& job) { return attempt_of(*job) && !is_of_last(job); };
  for (const auto* finished : {&children.succeeded, &children.failed}) {
    if (std::ranges::any_of(*finished, is_earlier)) return false;
  }
  return std::ranges::any_of(children.succeeded, is_of_last) || std::ranges::any_of(children.failed, is_of_last);
}

}  // namespace

ExecutionAttempts count_attempts(const JobSetSpec& spec, const JobSetStatus& status, const ChildJobs& children) {
  const std::optional<int> before = status.execution_attempts;
  if (spec.suspended || status.finished()) return {before};
  const bool resumed = is_condition_true(status.conditions, kSuspended);
  ExecutionAttempts out{before, false};
  if (!before) {
    out.current = resumed && status.restarts > 0 ? next(status.restarts) : status.restarts;
  } else if (resumed && is_uncounted(*before, children)) {
    out.current = next(*before);
  }
  out.resumed = resumed && out.current != before;
  return out;
}

int attempt_after_restart(std::optional<int> attempts, int restarts) { return attempts ? next(*attempts) : restarts; }

}  // namespace tpuslice::jobset
