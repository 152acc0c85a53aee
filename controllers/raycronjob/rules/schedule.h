// Schedule: the times of a cron schedule in a time zone. Pure.
//
//   "30 2 * * 1-5"                   five fields (cron_fields.h)
//   @yearly @annually @monthly @weekly @daily @midnight @hourly
//   @every 1h30m                     from the last run, or from the creation of the object
//
// The times are all whole minutes whose local date and time match the fields. So a local time that clocks skip in
// spring has no run, and one that they repeat in autumn has two; so it is with robfig/cron, which upstream and
// Kubernetes use.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <cctz/time_zone.h>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "controllers/raycronjob/rules/cron_fields.h"

namespace tpuslice::raycronjob {

/// The shortest interval of @every: names of RayJobs have the minute.
inline constexpr Duration kMinInterval = std::chrono::minutes(1);
/// Bytes of a schedule.
inline constexpr std::size_t kMaxSchedule = 1024;

class Schedule {
 public:
  /// Errors: InvalidArgument saying what is wrong.
  [[nodiscard]] static Result<Schedule> parse(std::string_view text);

  /// The first time after `after`; nothing if there is none for many years, or none within those of a Timestamp.
  [[nodiscard]] std::optional<Timestamp> first_after(Timestamp after, const cctz::time_zone& zone) const;
  /// The last time after `after` and until `until`, which counts, too; nothing if there is none. The cost does not
  /// depend on how many there are.
  [[nodiscard]] std::optional<Timestamp> last_between(Timestamp after, Timestamp until,
                                                      const cctz::time_zone& zone) const;

 private:
  explicit Schedule(std::variant<CronFields, Duration> times) : times_(times) {}

  std::variant<CronFields, Duration> times_;  ///< The duration of @every.
};

}  // namespace tpuslice::raycronjob
