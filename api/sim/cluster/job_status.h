// JobStatus: the conditions of a Job, and how it ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// How a Job is to end: first it gets the interim condition, and the final one when its pods are gone and counted.
struct JobVerdict {
  bool success = false;
  std::string reason;
  std::string message;

  [[nodiscard]] const char* interim() const { return success ? "SuccessCriteriaMet" : "FailureTarget"; }
  [[nodiscard]] const char* final() const { return success ? "Complete" : "Failed"; }
};

/// The condition of that type, if its status is True.
[[nodiscard]] const Json* true_condition(const Json& job, std::string_view type);

/// What an interim condition says.
[[nodiscard]] std::optional<JobVerdict> verdict_of(const Json& job);

/// Whether it is Complete or Failed.
[[nodiscard]] bool job_finished(const Json& job);
/// Since when; nothing while it is not.
[[nodiscard]] std::optional<Timestamp> job_finished_at(const Json& job);

/// Adds or changes a condition of `status`. A condition that is not there is not made False. False if nothing changed.
bool set_job_condition(Json& status, std::string_view type, std::string_view value, const std::string& reason,
                       const std::string& message, Timestamp now);

}  // namespace tpuslice::sim
