#include "controllers/rayjob/http_submission.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/head.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submission.h"

namespace tpuslice::rayjob {
namespace {

/// Name of the request.
constexpr std::string_view kSubmit = "submit";
constexpr Duration kMaxRetryInterval = std::chrono::seconds(30);

/// Whether Ray will never accept this submission. Errors about the token or the load may go away.
bool is_refusal(int status) {
  return status / 100 == 4 && status != 401 && status != 403 && status != 404 && status != 408 && status != 429;
}

Duration retry_interval(const RayJobState& state, std::int64_t attempts) {
  Duration out = state.options.poll;
  for (std::int64_t i = 1; i < attempts && out < kMaxRetryInterval; ++i) out *= 2;
  return std::min(out, kMaxRetryInterval);
}

}  // namespace

HttpSubmission find_submission(const RayJobState& state) {
  if (state.spec.mode != SubmissionMode::kHttp || !state.status.job.empty()) return {};
  const plan::WorkloadAnswer* last = state.seen.answers.last(kSubmit);
  const std::optional<ray::Dashboard> dashboard = find_dashboard(state);
  // A head does not know the submissions to an earlier one.
  if (last == nullptr || !dashboard || last->request.address != dashboard->address ||
      last->request.host != dashboard->host) {
    return {};
  }
  return {last->request.attempt, last};
}

void keep_answer(const HttpSubmission& last, Draft& draft) {
  if (last.answer != nullptr) draft.changes.requests.push_back(last.answer->request);
}

std::string submit_over_http(const RayJobState& state, const HttpSubmission& last, Draft& draft) {
  if (last.answer != nullptr && last.answer->ok()) {
    draft.status.job = ray::kPending;
    draft.changes.reasons.push_back(fmt::format("Ray job {} is submitted", state.status.job_id));
    return {};
  }
  if (last.answer != nullptr && is_refusal(last.answer->status)) {
    fail(state, kSubmissionFailed, fmt::format("Ray refused the job: {}", ray::explain(*last.answer)), draft);
    return {};
  }
  const std::string problem =
      last.answer == nullptr ? std::string() : fmt::format("submission: {}", ray::explain(*last.answer));
  if (state.refusal) return problem;
  const Result<Json> submission = build_submission(state.spec, state.status.job_id);
  if (!submission) {
    fail(state, kSubmissionFailed, submission.error().message(), draft);
    return {};
  }
  if (last.answer != nullptr) {
    const Timestamp due = last.answer->received + retry_interval(state, last.answered);
    if (state.seen.now < due) {
      draft.changes.requeue_within(due - state.seen.now);
      return problem;
    }
  }
  std::erase_if(draft.changes.requests, [](const plan::WorkloadRequest& request) { return request.name == kSubmit; });
  draft.changes.requests.push_back(ray::submit_job(*find_dashboard(state), *submission, last.answered + 1));
  return problem;
}

}  // namespace tpuslice::rayjob
