// JobStatus: the conditions of a Job.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// The result of a Job: first the interim condition, then, when all pods are terminal and counted, the final one.
struct JobResult {
  bool success = false;
  std::string reason;
  std::string message;

  [[nodiscard]] const char* interim() const { return success ? "SuccessCriteriaMet" : "FailureTarget"; }
  [[nodiscard]] const char* final() const { return success ? "Complete" : "Failed"; }
};

/// The condition of that type, if its status is True.
[[nodiscard]] const Json* true_condition(const Json& job, std::string_view type);

/// The result in the interim condition, if there is one.
[[nodiscard]] std::optional<JobResult> interim_result(const Json& job);

/// Whether it is Complete or Failed.
[[nodiscard]] bool job_finished(const Json& job);
/// The time of that condition.
[[nodiscard]] std::optional<Timestamp> job_finished_at(const Json& job);

/// Adds or changes a condition of `status`, but does not add a False one. False if nothing changed.
bool set_job_condition(Json& status, std::string_view type, std::string_view value, const std::string& reason,
                       const std::string& message, Timestamp now);

}  // namespace tpuslice::sim
