#include "controllers/rayjob/deadlines.h"

#include <chrono>

#include <fmt/format.h>

#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

/// The message has upstream's wording.
bool check(const RayJobState& state, const std::optional<Duration>& limit, std::string_view title,
           std::string_view field, std::string_view reason, Draft& draft) {
  if (!limit || !state.status.started) return false;
  const Timestamp due = *state.status.started + *limit;
  if (state.seen.now < due) {
    draft.changes.requeue_within(due - state.seen.now);
    return false;
  }
  std::string message =
      fmt::format("The RayJob has passed the {}. StartTime: {}. {}: {}", field, format_rfc3339(*state.status.started),
                  title, std::chrono::duration_cast<std::chrono::seconds>(*limit).count());
  // Before it runs, the message of the status says what the RayJob waits for.
  if (state.status.deployment == kInitializing && !state.status.message.empty()) {
    message += ". " + state.status.message;
  }
  fail(state, reason, std::move(message), draft);
  return true;
}

}  // namespace

bool check_active_deadline(const RayJobState& state, Draft& draft) {
  return check(state, state.spec.active_deadline, "ActiveDeadlineSeconds", "activeDeadlineSeconds", kDeadlineExceeded,
               draft);
}

bool check_pre_running_deadline(const RayJobState& state, Draft& draft) {
  return check(state, state.spec.pre_running_deadline, "PreRunningDeadlineSeconds", "preRunningDeadlineSeconds",
               kPreRunningDeadlineExceeded, draft);
}

}  // namespace tpuslice::rayjob
