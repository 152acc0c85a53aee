// RayCronJobSpec: fields of a RayCronJob that admission and the controller read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/types/object.h"

namespace tpuslice::raycronjob {

/// Borrows from the document it was read from, which must outlive it. Fields are not validated; validator.h does that.
struct RayCronJobSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;               ///< The owner reference of RayJobs.
  std::optional<Timestamp> created;  ///< metadata.creationTimestamp
  std::string schedule;
  std::optional<std::string> time_zone;  ///< Absent: the local time zone of the operator.
  bool suspend = false;
  const Json* job_template = nullptr;  ///< The spec of RayJobs; null if absent, which is invalid.

  /// Never fails: members of the wrong type count as absent; validation refuses them.
  static RayCronJobSpec read(const Json& cron_job);
  static RayCronJobSpec read(const Object& cron_job) { return read(cron_job.json()); }
  // It would borrow from a temporary.
  static RayCronJobSpec read(const Json&&) = delete;
  static RayCronJobSpec read(const Object&&) = delete;
};

}  // namespace tpuslice::raycronjob
