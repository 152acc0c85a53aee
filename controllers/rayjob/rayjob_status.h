// RayJobStatus: .status of a RayJob, with the fields and spelling of upstream, and conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/types/object.h"

namespace tpuslice::rayjob {

/// A value.
struct RayJobStatus {
  std::string deployment;  ///< jobDeploymentStatus
  std::string job;         ///< jobStatus, by Ray; empty until the job was seen.
  std::string job_id;      ///< Ray's submission id.
  std::string cluster_name;
  std::string dashboard_url;
  std::string reason;
  std::string message;
  std::optional<Timestamp> started;  ///< Start of this attempt.
  std::optional<Timestamp> ended;
  std::optional<Timestamp> check_failing_since;  ///< jobStatusCheckFailureStartTime
  std::optional<Timestamp> job_started;          ///< rayJobInfo, by Ray.
  std::optional<Timestamp> job_ended;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;  ///< Attempts.
  Json cluster;             ///< rayClusterStatus: .status of the RayCluster; null without.
  Json conditions = Json::array();

  static RayJobStatus read(const Object& job);

  /// The whole .status: `before` with these fields replaced. Unknown fields stay.
  [[nodiscard]] Json to_json(const Json& before, std::int64_t generation) const;

  /// Complete or Failed.
  [[nodiscard]] bool finished() const;
  /// Forgets cluster and job, for the next attempt.
  void clear_attempt();
};

}  // namespace tpuslice::rayjob
