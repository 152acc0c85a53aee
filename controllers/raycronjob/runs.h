// Runs: which run of a RayCronJob is due, and when the next one is.
#pragma once

#include <optional>
#include <string>

#include "api/types/object.h"
#include "controllers/raycronjob/raycronjob_options.h"
#include "controllers/raycronjob/rules/spec.h"

namespace tpuslice::raycronjob {

struct Runs {
  /// The last scheduled time until now that is not recorded in status.lastScheduleTime. Earlier ones were missed: a
  /// RayCronJob that was suspended, or had no operator, does not start all that it has missed at once.
  std::optional<Timestamp> due;
  std::optional<Timestamp> first_missed;  ///< The first scheduled time that was missed.
  std::optional<Timestamp> next;          ///< The first scheduled time after now, and after the last run.
};

/// status.lastScheduleTime
[[nodiscard]] std::optional<Timestamp> last_schedule_time(const Object& cron_job);

/// The runs by the schedule, whether or not it is suspended. None if schedule or time zone are invalid. Scheduled times
/// count from status.lastScheduleTime, at first from the creation.
[[nodiscard]] Runs find_runs(const RayCronJobSpec& spec, std::optional<Timestamp> last, Timestamp now,
                             const Options& options);

/// Name of the RayJob of a run: "<name>-<minutes since 1970>", as upstream's. No other run has it, so that a run whose
/// RayJob was created and not recorded is found again.
[[nodiscard]] std::string run_name(const RayCronJobSpec& spec, Timestamp run);

/// The RayJob of a run.
[[nodiscard]] Object build_rayjob(const RayCronJobSpec& spec, Timestamp run);

}  // namespace tpuslice::raycronjob
