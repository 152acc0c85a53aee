// What the dashboard says about the Ray job.
#pragma once

#include <optional>
#include <string>

#include "controllers/ray/dashboard.h"
#include "controllers/rayjob/rayjob_state.h"
#include "controllers/rayjob/submitter.h"

namespace tpuslice::rayjob {

/// The result of the last GET. Outdated answers are ignored: after the job was seen, the submitter ended or a
/// submission was answered, the GET is a different request.
struct JobCheck {
  enum class Kind : std::uint8_t {
    kNoAnswer,     ///< No response and no error yet.
    kUnreachable,  ///< See `problem`.
    kNotFound,     ///< Ray does not know the job.
    kFound,
  };
  Kind kind = Kind::kNoAnswer;
  std::string problem = {};
  ray::JobInfo info = {};
  std::optional<plan::WorkloadRequest> request = {};  ///< The GET; nothing without a dashboard.
};

/// `submissions`: answered POSTs.
[[nodiscard]] JobCheck check_job(const RayJobState& state, const SubmitterState& submitter, std::int64_t submissions);

/// Writes status, message and times of the job into the status. A job does not go back to an earlier status, and its
/// last one is final, whatever the dashboard answers: a user's pod must not cause a write with each answer.
void record(const ray::JobInfo& info, Timestamp now, RayJobStatus& status);

}  // namespace tpuslice::rayjob
