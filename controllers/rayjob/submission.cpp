#include "controllers/rayjob/submission.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "controllers/rayjob/dashboard_address.h"

namespace tpuslice::rayjob {
namespace {

/// A positive number; Ray takes 0 for "not given", too.
void put_number(Json& out, const char* name, const Json* value) {
  if (value != nullptr && value->is_number() && value->get<double>() > 0) out[name] = *value;
}

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

Result<Json> build_submission(const RayJobSpec& spec, const std::string& submission_id) {
  Json out = {{"entrypoint", spec.entrypoint}, {"submission_id", submission_id}};
  if (!spec.runtime_env.empty()) {
    Result<Json> environment = parse_yaml(spec.runtime_env);
    if (!environment) return environment.error().within("spec.runtimeEnvYAML");
    if (!environment->is_null() && !environment->is_object()) {
      return Error::invalid_argument("spec.runtimeEnvYAML: {} is not an object", environment->type_name());
    }
    if (environment->is_object()) out["runtime_env"] = *std::move(environment);
  }
  if (!spec.metadata.empty()) {
    for (const auto& [key, value] : spec.metadata) out["metadata"][key] = value;
  }
  put_number(out, "entrypoint_num_cpus", spec.entrypoint_cpus);
  put_number(out, "entrypoint_num_gpus", spec.entrypoint_gpus);
  if (!spec.entrypoint_resources.empty()) {
    Result<Json> resources = parse_json(spec.entrypoint_resources);
    if (!resources) return resources.error().within("spec.entrypointResources");
    if (!resources->is_object()) {
      return Error::invalid_argument("spec.entrypointResources: {} is not an object", resources->type_name());
    }
    out["entrypoint_resources"] = *std::move(resources);
  }
  return out;
}

HttpSubmission find_submission(const RayJobState& state) {
  if (state.mode != SubmissionMode::kHttp || !state.status.job.empty()) return {};
  const plan::WorkloadAnswer* last = state.seen.answers.last(kSubmit);
  const std::optional<ray::Dashboard> dashboard = find_dashboard(state);
  // A head does not know the submissions to an earlier one.
  if (last == nullptr || !dashboard || last->request.address != dashboard->address ||
      last->request.host != dashboard->host) {
    return {};
  }
  return {last->request.attempt, last};
}

SubmissionDecision decide_submission(const RayJobState& state, const HttpSubmission& last) {
  SubmissionDecision out;
  if (last.answer != nullptr) {
    if (last.answer->ok()) return {.accepted = true};
    if (is_refusal(last.answer->status)) {
      return {.refusal = fmt::format("Ray refused the job: {}", ray::explain(*last.answer))};
    }
    out.problem = fmt::format("submission: {}", ray::explain(*last.answer));
  }
  if (state.refusal) return out;
  const Result<Json> submission = build_submission(state.spec, state.status.job_id);
  if (!submission) return {.refusal = submission.error().message()};
  if (last.answer != nullptr) {
    const Timestamp due = last.answer->received + retry_interval(state, last.answered);
    if (state.seen.now < due) {
      out.requeue_after = due - state.seen.now;
      return out;
    }
  }
  out.request = ray::submit_job(*find_dashboard(state), *submission, last.answered + 1);
  return out;
}

}  // namespace tpuslice::rayjob
