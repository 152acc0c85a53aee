// HTTPMode: the operator submits the job itself.
//
// The POST is sent only after a GET of the job returned 404, and repeated only after another GET did: a POST without a
// response may have been carried out.
#pragma once

#include <string>

#include "controllers/rayjob/rayjob_state.h"

namespace tpuslice::rayjob {

struct HttpSubmission {
  std::int64_t answered = 0;                     ///< Attempt of the last POST that has an answer; 0 without.
  const plan::WorkloadAnswer* answer = nullptr;  ///< To that POST.
};
/// None in other modes, and once the job was seen.
[[nodiscard]] HttpSubmission find_submission(const RayJobState& state);

/// Puts the POST that was answered into this plan's requests too: WorkloadClient keeps its answer and does not send it
/// again.
void keep_answer(const HttpSubmission& last, Draft& draft);

/// Adds the POST that is wanted now to the requests of the plan. A job that Ray has accepted is PENDING; one that Ray
/// refuses fails with SubmissionFailed. Returns why the last POST may not have been carried out; empty if there is no
/// such POST.
[[nodiscard]] std::string submit_over_http(const RayJobState& state, const HttpSubmission& last, Draft& draft);

}  // namespace tpuslice::rayjob
