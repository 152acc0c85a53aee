#include "controllers/rayjob/limits.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

/// The message has upstream's wording.
void check(const RayJobState& state, const std::optional<Duration>& limit, std::string_view title,
           std::string_view field, std::string_view reason, DeadlineDecision& out) {
  if (!limit || !state.status.started || out.passed) return;
  const Timestamp due = *state.status.started + *limit;
  if (state.seen.now < due) return set_earlier(out.requeue_after, Duration(due - state.seen.now));
  std::string message =
      fmt::format("The RayJob has passed the {}. StartTime: {}. {}: {}", field, format_rfc3339(*state.status.started),
                  title, std::chrono::duration_cast<std::chrono::seconds>(*limit).count());
  // Before it runs, the message of the status says what the RayJob waits for.
  if (state.status.deployment == kInitializing && !state.status.message.empty()) {
    message += ". " + state.status.message;
  }
  out.passed = {std::string(reason), std::move(message)};
}

}  // namespace

DeadlineDecision check_deadlines(const RayJobState& state) {
  DeadlineDecision out;
  check(state, state.spec.active_deadline, "ActiveDeadlineSeconds", "activeDeadlineSeconds", kDeadlineExceeded, out);
  if (state.status.deployment == kRunning) return out;
  check(state, state.spec.pre_running_deadline, "PreRunningDeadlineSeconds", "preRunningDeadlineSeconds",
        kPreRunningDeadlineExceeded, out);
  return out;
}

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
