#include "controllers/rayjob/rayjob_state.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/ray/dashboard.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/validation.h"

namespace tpuslice::rayjob {
namespace {

using plan::EventType;

bool is_owned_by(const RayJobSpec& spec, const std::optional<ControllerRef>& controller) {
  return controller && controller->uid == spec.uid;
}

bool may_retry(const RayJobState& state, std::string_view reason) {
  // Another attempt makes a new cluster, which these modes do not.
  if (state.spec.selects_cluster || state.spec.mode == SubmissionMode::kInteractive) return false;
  if (reason == kDeadlineExceeded || reason == kStatusCheckTimeout) return false;
  return state.status.failed < state.spec.backoff_limit;
}

void count_finished(std::string_view result, Draft& draft) {
  draft.changes.count("tpuslice_rayjobs_finished_total", "RayJobs that completed or failed.",
                      {{"result", std::string(result)}});
}

}  // namespace

RayJobState::RayJobState(const RayJobObserved& observed, const Options& all_options)
    : seen(observed),
      options(all_options),
      spec(observed.job.spec()),
      status(RayJobStatus::read(observed.job)),
      // A finished RayJob is only cleaned up, so its spec may be from before a rule.
      refusal(status.finished() ? Problem{} : validate(observed.job)) {}

bool RayJobState::owns_cluster() const {
  return seen.cluster != nullptr && is_owned_by(spec, seen.cluster->controller);
}

bool RayJobState::owns_submitter() const {
  return seen.submitter != nullptr && is_owned_by(spec, seen.submitter->controller);
}

const ObjectView* RayJobState::usable_cluster() const {
  if (seen.cluster == nullptr || seen.cluster->deletion) return nullptr;
  return spec.selects_cluster || owns_cluster() ? seen.cluster.get() : nullptr;
}

void add_action(Step step, plan::Action action, std::string_view failure_reason, EventTexts texts, Draft& draft) {
  action.failure_reason = failure_reason;
  const auto add_event = [&](EventType type, std::string_view reason, std::string message) {
    if (reason.empty()) return;
    draft.changes.event(type, reason, std::move(message), action.key);
    draft.changes.events.back().after_type = action.type;  // The submitter has the name of the RayJob.
  };
  add_event(EventType::kNormal, texts.reason, std::move(texts.done));
  add_event(EventType::kWarning, texts.failure_reason, std::move(texts.failed));
  draft.changes.add(step, std::move(action));
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

void fail(const RayJobState& state, std::string_view reason, std::string message, Draft& draft) {
  RayJobStatus& status = draft.status;
  const std::string retry = describe_retry(state, reason);
  const bool retries = may_retry(state, reason);
  status.deployment = retries ? kRetrying : kFailed;
  status.reason = reason;
  status.message = message;
  ++status.failed;
  std::string_view cause = message.empty() ? std::string_view("no message") : std::string_view(message);
  while (cause.ends_with('.')) cause.remove_suffix(1);
  std::string text = fmt::format("{}: {}; {}", reason, cause, retry);
  draft.changes.event(EventType::kWarning, retries ? kRetrying : kFailed, text);
  draft.changes.reasons.push_back(std::move(text));
  if (retries) return;
  status.ended = state.seen.now;
  count_finished(kFailed, draft);
}

void end_by_ray(const RayJobState& state, std::string_view reason, Draft& draft) {
  RayJobStatus& status = draft.status;
  if (status.job == ray::kFailed) {
    std::string message = status.message;
    if (!draft.lost_workers.empty()) {
      message = fmt::format("{}{}{}", message, message.empty() ? "" : "; ", draft.lost_workers);
    }
    return fail(state, reason.empty() ? kAppFailed : reason, std::move(message), draft);
  }
  status.deployment = kComplete;
  status.reason = reason;
  status.ended = state.seen.now;
  if (status.job == ray::kSucceeded) ++status.succeeded;
  std::string text = fmt::format("Ray job {} is {}", status.job_id, status.job);
  draft.changes.event(EventType::kNormal, kComplete, text);
  draft.changes.reasons.push_back(std::move(text));
  count_finished(kComplete, draft);
}

}  // namespace tpuslice::rayjob
