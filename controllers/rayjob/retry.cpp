#include "controllers/rayjob/retry.h"

#include <fmt/format.h>

#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {

bool may_retry(const RayJobState& state, std::string_view reason) {
  // Another attempt makes a new cluster, which these modes do not.
  if (state.spec.selects_cluster || state.spec.mode == SubmissionMode::kInteractive) return false;
  if (reason == kDeadlineExceeded || reason == kStatusCheckTimeout) return false;
  return state.status.failed < state.spec.backoff_limit;
}

std::string describe_retry(const RayJobState& state, std::string_view reason) {
  const std::int64_t attempts = state.spec.backoff_limit + 1;
  if (may_retry(state, reason)) {
    return fmt::format("it is retried with a new RayCluster, attempt {} of {}", state.status.failed + 2, attempts);
  }
  if (state.spec.backoff_limit == 0) return "it is not retried: spec.backoffLimit is 0";
  if (state.status.failed >= state.spec.backoff_limit) return fmt::format("that was attempt {0} of {0}", attempts);
  return fmt::format("it is not retried: {} is not", reason);
}

}  // namespace tpuslice::rayjob
