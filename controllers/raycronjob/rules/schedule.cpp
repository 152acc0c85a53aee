#include "controllers/raycronjob/rules/schedule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "controllers/raycronjob/rules/go_duration.h"

namespace tpuslice::raycronjob {
namespace {

using std::chrono::seconds;
/// A whole second.
using Second = cctz::time_point<cctz::seconds>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kDescriptors{{{"@yearly", "0 0 1 1 *"},
                                                                                     {"@annually", "0 0 1 1 *"},
                                                                                     {"@monthly", "0 0 1 * *"},
                                                                                     {"@weekly", "0 0 * * 0"},
                                                                                     {"@daily", "0 0 * * *"},
                                                                                     {"@midnight", "0 0 * * *"},
                                                                                     {"@hourly", "0 * * * *"}}};

constexpr std::string_view kEvery = "@every ";

/// Between two 29 February are at most eight years; twice that, in case that clocks skip the time on one of them.
constexpr int kSearchedDays = 366 * 17;

Second to_instant(Timestamp time) { return std::chrono::time_point_cast<cctz::seconds>(time); }

/// Numbers of the bits that are set.
std::vector<int> values_of(std::uint64_t bits) {
  std::vector<int> out;
  for (; bits != 0; bits &= bits - 1) out.push_back(std::countr_zero(bits));
  return out;
}

/// Calls `visit` with every time of `day`, in any order. One local time may be two instants, or none.
template <typename Visit>
void each_time(const CronFields& fields, cctz::civil_day day, const cctz::time_zone& zone, const Visit& visit) {
  if (!fields.matches(day)) return;
  const std::vector<int> minutes = values_of(fields.minutes);
  for (const int hour : values_of(fields.hours)) {
    for (const int minute : minutes) {
      const cctz::time_zone::civil_lookup found =
          zone.lookup(cctz::civil_second(day.year(), day.month(), day.day(), hour, minute, 0));
      if (found.kind == cctz::time_zone::civil_lookup::SKIPPED) continue;
      visit(found.pre);
      if (found.kind == cctz::time_zone::civil_lookup::REPEATED) visit(found.post);
    }
  }
}

/// A day whose clocks are set back over midnight begins before the day before it has ended: the neighbour is searched,
/// too.
std::optional<Second> first_of_fields(const CronFields& fields, Second after, const cctz::time_zone& zone) {
  std::optional<Second> best;
  const auto visit = [&](Second time) {
    if (time > after && (!best || time < *best)) best = time;
  };
  cctz::civil_day day = cctz::civil_day(cctz::convert(after, zone)) - 1;
  for (int i = 0; i < kSearchedDays && !best; ++i) each_time(fields, day++, zone, visit);
  if (best) each_time(fields, day, zone, visit);
  return best;
}

std::optional<Second> last_of_fields(const CronFields& fields, Second after, Second until,
                                     const cctz::time_zone& zone) {
  std::optional<Second> best;
  const auto visit = [&](Second time) {
    if (time > after && time <= until && (!best || time > *best)) best = time;
  };
  const cctz::civil_day begin = cctz::civil_day(cctz::convert(after, zone)) - 1;
  cctz::civil_day day = cctz::civil_day(cctz::convert(until, zone)) + 1;
  for (int i = 0; i < kSearchedDays && day >= begin && !best; ++i) each_time(fields, day--, zone, visit);
  if (best) each_time(fields, day, zone, visit);
  return best;
}

std::optional<Timestamp> to_timestamp(const std::optional<Second>& time) {
  return time ? timestamp_of(time->time_since_epoch().count()) : std::nullopt;
}

Result<Duration> parse_interval(std::string_view text) {
  const std::optional<Duration> interval = parse_go_duration(trimmed(text));
  if (!interval) {
    return Error::invalid_argument("@every \"{}\": is not a duration, such as 1h30m", trimmed(text));
  }
  if (*interval < kMinInterval) {
    return Error::invalid_argument("@every \"{}\": must be at least 1m, as RayJobs are named by the minute",
                                   trimmed(text));
  }
  return Duration(std::chrono::duration_cast<seconds>(*interval));
}

}  // namespace

Result<Schedule> Schedule::parse(std::string_view text) {
  const std::string schedule = trimmed(text);
  if (schedule.empty()) return Error::invalid_argument("is empty");
  if (schedule.size() > kMaxSchedule) {
    return Error::invalid_argument("has {} characters, more than {}", schedule.size(), kMaxSchedule);
  }
  if (schedule.find("TZ") != std::string::npos) {
    return Error::invalid_argument("TZ and CRON_TZ are not supported, use spec.timeZone");
  }
  if (!schedule.starts_with('@')) {
    ASSIGN_OR_RETURN(CronFields fields, CronFields::parse(schedule));
    return Schedule(fields);
  }
  if (schedule.starts_with(kEvery)) {
    ASSIGN_OR_RETURN(const Duration interval, parse_interval(std::string_view(schedule).substr(kEvery.size())));
    return Schedule(interval);
  }
  for (const auto& [name, fields] : kDescriptors) {
    if (schedule != name) continue;
    ASSIGN_OR_RETURN(CronFields parsed, CronFields::parse(fields));
    return Schedule(parsed);
  }
  std::vector<std::string_view> names;
  names.reserve(std::size(kDescriptors));
  for (const auto& [name, fields] : kDescriptors) names.push_back(name);
  return Error::invalid_argument("is not a descriptor, which are {} and @every <duration>", fmt::join(names, ", "));
}

std::optional<Timestamp> Schedule::first_after(Timestamp after, const cctz::time_zone& zone) const {
  if (const auto* fields = std::get_if<CronFields>(&times_)) {
    return to_timestamp(first_of_fields(*fields, to_instant(after), zone));
  }
  return to_timestamp(to_instant(after) + std::chrono::duration_cast<seconds>(std::get<Duration>(times_)));
}

std::optional<Timestamp> Schedule::last_between(Timestamp after, Timestamp until, const cctz::time_zone& zone) const {
  if (until <= after) return std::nullopt;
  const Second begin = to_instant(after);
  const Second end = to_instant(until);
  if (const auto* fields = std::get_if<CronFields>(&times_)) {
    return to_timestamp(last_of_fields(*fields, begin, end, zone));
  }
  const auto interval = std::chrono::duration_cast<seconds>(std::get<Duration>(times_));
  const auto runs = (end - begin) / interval;
  if (runs == 0) return std::nullopt;
  return to_timestamp(begin + runs * interval);
}

}  // namespace tpuslice::raycronjob
