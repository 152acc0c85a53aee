// What is submitted to Ray, the body of POST /api/jobs/ and the arguments of JobSubmissionClient.submit_job(); and
// HTTPMode, in which the operator submits the job itself.
//
// The POST is sent only after a GET of the job returned 404, and repeated only after another GET did: a POST without a
// response may have been carried out.
#pragma once

#include <optional>
#include <string>

#include "controllers/rayjob/rayjob_state.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {

/// Errors: InvalidArgument if spec.runtimeEnvYAML is not the YAML of an object, or spec.entrypointResources not the
/// JSON of one.
[[nodiscard]] Result<Json> build_submission(const RayJobSpec& spec, const std::string& submission_id);

struct HttpSubmission {
  std::int64_t answered = 0;                     ///< Attempt of the last POST that has an answer; 0 without.
  const plan::WorkloadAnswer* answer = nullptr;  ///< To that POST.
};
/// None in other modes, and once the job was seen.
[[nodiscard]] HttpSubmission find_submission(const RayJobState& state);

/// The POST that is wanted, or what the last one came to.
struct SubmissionDecision {
  bool accepted = false;     ///< Ray has accepted the job.
  std::string refusal = {};  ///< Why Ray will never accept it; empty otherwise.
  std::string problem = {};  ///< Why the last POST may not have been carried out; empty if there is no such POST.
  std::optional<plan::WorkloadRequest> request = {};  ///< The POST that is wanted now.
  std::optional<Duration> requeue_after = {};         ///< Until the next POST.
};

/// For a job that Ray does not know, whose last POST is `last`.
[[nodiscard]] SubmissionDecision decide_submission(const RayJobState& state, const HttpSubmission& last);

}  // namespace tpuslice::rayjob
