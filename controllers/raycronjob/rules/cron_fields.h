// CronFields: the five fields of a cron schedule, as the standard parser of robfig/cron v3 reads them. Pure.
//
//   minute 0-59, hour 0-23, day of month 1-31, month 1-12 or JAN-DEC, day of week 0-6 or SUN-SAT (0 is Sunday)
//
// A field is a list of "*", "?", "5", "1-5", with a step "*/15", "1-30/2" or "5/10", which is "5-59/10" of minutes.
// What that parser accepts by accident ("1,,2", "*-5", "+5") is refused.
#pragma once

#include <cstdint>
#include <string_view>

#include <cctz/civil_time.h>

#include "api/base/result.h"

namespace tpuslice::raycronjob {

struct CronFields {
  // Bit i: the value i matches.
  std::uint64_t minutes = 0;
  std::uint64_t hours = 0;
  std::uint64_t days = 0;
  std::uint64_t months = 0;
  std::uint64_t weekdays = 0;
  bool any_day = false;      ///< The day of month is "*" or "?", without a step above 1.
  bool any_weekday = false;  ///< The same of the day of week.

  /// Errors: InvalidArgument naming the field, what was found and what would be right. A schedule that no date of the
  /// calendar matches, such as 30 February, is one.
  [[nodiscard]] static Result<CronFields> parse(std::string_view text);

  /// If both the day of month and the day of week are restricted, one of them has to match; else both.
  [[nodiscard]] bool matches(cctz::civil_day day) const;

  friend bool operator==(const CronFields&, const CronFields&) = default;
};

}  // namespace tpuslice::raycronjob
