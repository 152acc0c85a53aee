#include "controllers/raycronjob/rules/schedule.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycronjob/rules/time_zones.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::raycronjob {
namespace {

using ::testing::ElementsAreArray;
using ::testing::Eq;
using ::testing::HasSubstr;
using Times = std::vector<std::string>;

Schedule schedule_of(const std::string& text) {
  const Result<Schedule> schedule = Schedule::parse(text);
  TPUSLICE_CHECK_MSG(schedule.ok(), text);
  return *schedule;
}

Timestamp at(const std::string& text) { return parse_rfc3339(text).value(); }

std::string text_of(const std::optional<Timestamp>& time) { return time ? format_rfc3339(*time) : "none"; }

struct ScheduleCase {
  const char* name;
  const char* schedule;
  const char* zone;
  const char* after;
  Times times;  ///< The first after `after`.
};

void PrintTo(const ScheduleCase& each, std::ostream* out) { *out << each.schedule << " in " << each.zone; }

class ScheduleTimes : public ::testing::TestWithParam<ScheduleCase> {};

TEST_P(ScheduleTimes, FollowEachOther) {
  const Schedule schedule = schedule_of(GetParam().schedule);
  const cctz::time_zone zone = find_time_zone(GetParam().zone).value();
  const Timestamp after = at(GetParam().after);
  Times found;
  Timestamp time = after;
  for (std::size_t i = 0; i < GetParam().times.size(); ++i) {
    const std::optional<Timestamp> next = schedule.first_after(time, zone);
    found.push_back(text_of(next));
    if (!next) break;
    EXPECT_EQ(text_of(schedule.last_between(after, *next, zone)), text_of(next));
    EXPECT_EQ(text_of(schedule.last_between(time, *next - std::chrono::seconds(1), zone)), "none");
    time = *next;
  }
  EXPECT_THAT(found, ElementsAreArray(GetParam().times));
}

INSTANTIATE_TEST_SUITE_P(
    Plain, ScheduleTimes,
    ::testing::Values(
        ScheduleCase{"AfterATimeOfItsOwn",
                     "*/10 * * * *",
                     "UTC",
                     "2026-01-01T00:00:00Z",
                     {"2026-01-01T00:10:00Z", "2026-01-01T00:20:00Z"}},
        ScheduleCase{"WithinAMinute", "* * * * *", "UTC", "2026-01-01T00:00:59Z", {"2026-01-01T00:01:00Z"}},
        ScheduleCase{"OverTheYear",
                     "0 0 1 1 *",
                     "UTC",
                     "2026-12-31T23:59:59Z",
                     {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}},
        ScheduleCase{"TheDayAfter",
                     "45 21 * * *",
                     "Asia/Taipei",
                     "2026-06-01T13:45:00Z",
                     {"2026-06-02T13:45:00Z", "2026-06-03T13:45:00Z"}},
        ScheduleCase{"AheadOfUtc", "0 1 1 * *", "Pacific/Kiritimati", "2026-01-01T00:00:00Z", {"2026-01-31T11:00:00Z"}},
        ScheduleCase{"31OfMonths",
                     "0 12 31 * *",
                     "UTC",
                     "2026-01-31T12:00:00Z",
                     {"2026-03-31T12:00:00Z", "2026-05-31T12:00:00Z", "2026-07-31T12:00:00Z"}},
        ScheduleCase{"29February",
                     "0 0 29 2 *",
                     "UTC",
                     "2026-01-01T00:00:00Z",
                     {"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
        ScheduleCase{"29FebruaryIn2100", "0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", {"2104-02-29T00:00:00Z"}},
        ScheduleCase{"DayOrWeekday",
                     "0 0 13 * 5",
                     "UTC",
                     "2026-01-01T00:00:00Z",
                     {"2026-01-02T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"}},
        ScheduleCase{"Yearly", "@yearly", "UTC", "2026-01-01T00:00:00Z", {"2027-01-01T00:00:00Z"}},
        ScheduleCase{"Annually", "@annually", "UTC", "2026-01-01T00:00:00Z", {"2027-01-01T00:00:00Z"}},
        ScheduleCase{"Monthly", "@monthly", "UTC", "2026-01-01T00:00:00Z", {"2026-02-01T00:00:00Z"}},
        ScheduleCase{"Weekly", "@weekly", "UTC", "2026-01-01T00:00:00Z", {"2026-01-04T00:00:00Z"}},
        ScheduleCase{"Daily", "@daily", "Europe/Berlin", "2026-01-01T00:00:00Z", {"2026-01-01T23:00:00Z"}},
        ScheduleCase{"Midnight", "@midnight", "UTC", "2026-01-01T00:00:00Z", {"2026-01-02T00:00:00Z"}},
        ScheduleCase{"Hourly", " @hourly ", "UTC", "2026-01-01T00:00:00Z", {"2026-01-01T01:00:00Z"}},
        ScheduleCase{
            "Every", "@every 1h30m", "UTC", "2026-01-01T00:00:07Z", {"2026-01-01T01:30:07Z", "2026-01-01T03:00:07Z"}},
        ScheduleCase{"EveryRoundedDown", "@every 90.9s", "UTC", "2026-01-01T00:00:00Z", {"2026-01-01T00:01:30Z"}}),
    [](const auto& test) { return "T" + std::string(test.param.name); });

// Clocks go forward on 29 March 2026 at 02:00 in Berlin, and back on 25 October at 03:00.
INSTANTIATE_TEST_SUITE_P(
    DaylightSaving, ScheduleTimes,
    ::testing::Values(
        ScheduleCase{"ASkippedTimeHasNoRun",
                     "30 2 * * *",
                     "Europe/Berlin",
                     "2026-03-27T12:00:00Z",
                     {"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"}},
        ScheduleCase{"ARepeatedTimeHasTwoRuns",
                     "30 2 * * *",
                     "Europe/Berlin",
                     "2026-10-24T12:00:00Z",
                     {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"}},
        ScheduleCase{"HoursInSpring",
                     "0 * * * *",
                     "Europe/Berlin",
                     "2026-03-28T23:30:00Z",
                     {"2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
        ScheduleCase{"HoursInAutumn",
                     "0 * * * *",
                     "Europe/Berlin",
                     "2026-10-24T23:30:00Z",
                     {"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
        ScheduleCase{
            "TheDayIsNotSkipped", "0 12 29 3 *", "Europe/Berlin", "2026-03-01T00:00:00Z", {"2026-03-29T10:00:00Z"}},
        // 00:00 to 01:00 is skipped on 8 March, and repeated on 1 November.
        ScheduleCase{"SkippedMidnight",
                     "0 0 * * *",
                     "America/Havana",
                     "2026-03-07T00:00:00Z",
                     {"2026-03-07T05:00:00Z", "2026-03-09T04:00:00Z"}},
        ScheduleCase{"RepeatedMidnight",
                     "0 0 * * *",
                     "America/Havana",
                     "2026-10-31T12:00:00Z",
                     {"2026-11-01T04:00:00Z", "2026-11-01T05:00:00Z", "2026-11-02T05:00:00Z"}},
        // Half an hour, from 02:00 back to 01:30.
        ScheduleCase{"HalfAnHour",
                     "*/30 * * * *",
                     "Australia/Lord_Howe",
                     "2026-04-04T14:00:00Z",
                     {"2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:30:00Z"}},
        // At 00:01 back to 23:01 of the day before.
        ScheduleCase{"OverMidnight",
                     "0,30 0,23 * * *",
                     "America/St_Johns",
                     "2010-11-07T01:00:00Z",
                     {"2010-11-07T01:30:00Z", "2010-11-07T02:00:00Z", "2010-11-07T02:30:00Z", "2010-11-07T03:00:00Z",
                      "2010-11-07T03:30:00Z", "2010-11-07T04:00:00Z"}},
        // Samoa had no 30 December 2011.
        ScheduleCase{"ASkippedDay",
                     "0 6 * * *",
                     "Pacific/Apia",
                     "2011-12-29T00:00:00Z",
                     {"2011-12-29T16:00:00Z", "2011-12-30T16:00:00Z"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Schedule, HasNoTimeBeyondTheYearsOfATimestamp) {
  EXPECT_THAT(schedule_of("@yearly").first_after(at("2259-06-01T00:00:00Z"), cctz::utc_time_zone()),
              ::testing::Optional(at("2260-01-01T00:00:00Z")));
  EXPECT_THAT(schedule_of("0 0 29 2 *").first_after(at("2260-12-01T00:00:00Z"), cctz::utc_time_zone()),
              Eq(std::nullopt));
}

TEST(Schedule, HasNoTimeBetweenEqualTimesOrBackwards) {
  const Schedule schedule = schedule_of("* * * * *");
  const Timestamp noon = at("2026-01-01T12:00:00Z");
  const cctz::time_zone utc = cctz::utc_time_zone();
  EXPECT_THAT(schedule.last_between(noon, noon, utc), Eq(std::nullopt));
  EXPECT_THAT(schedule.last_between(noon, noon - std::chrono::hours(1), utc), Eq(std::nullopt));
  EXPECT_EQ(text_of(schedule.last_between(noon - std::chrono::hours(24 * 365 * 50), noon, utc)),
            "2026-01-01T12:00:00Z");
}

// The last time is searched backwards; the definition is a walk forwards.
TEST(Schedule, TheLastTimeIsTheEndOfAWalk) {
  const std::vector<std::string> schedules = {"*/7 * * * *", "30 2 * * *", "15,45 0-3 * * 0", "0 0 1,15 * *",
                                              "@hourly",     "@every 95m", "59 23 31 * *",    "0 1 * 3,10,11 *"};
  const std::vector<std::string> zones = {
      "UTC", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"};
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (int i = 0; i < 400; ++i) {
    const std::string& text = schedules.at(below(schedules.size()));
    const std::string& name = zones.at(below(zones.size()));
    const Schedule schedule = schedule_of(text);
    const cctz::time_zone zone = find_time_zone(name).value();
    const Timestamp after = at("2010-01-01T00:00:00Z") + std::chrono::minutes(below(17UL * 365 * 24 * 60));
    const Timestamp until = after + std::chrono::minutes(below(3UL * 24 * 60));
    std::optional<Timestamp> last;
    for (auto next = schedule.first_after(after, zone); next && *next <= until;
         next = schedule.first_after(*next, zone)) {
      ASSERT_LT(last.value_or(after), *next);
      last = next;
    }
    EXPECT_EQ(text_of(schedule.last_between(after, until, zone)), text_of(last))
        << text << " in " << name << " after " << format_rfc3339(after) << " until " << format_rfc3339(until);
  }
}

// Every minute whose local time matches is one of the times, and no other.
TEST(Schedule, HasTheMinutesWhoseLocalTimeMatches) {
  const CronFields fields = CronFields::parse("*/20 0-3,23 * * *").value();
  const Schedule schedule = schedule_of("*/20 0-3,23 * * *");
  for (const auto& [name, begin] :
       {std::pair("Europe/Berlin", "2026-03-28T12:00:00Z"), std::pair("Europe/Berlin", "2026-10-24T12:00:00Z"),
        std::pair("America/Havana", "2026-10-31T12:00:00Z"), std::pair("America/St_Johns", "2010-11-06T12:00:00Z"),
        std::pair("Australia/Lord_Howe", "2026-04-04T00:00:00Z"), std::pair("Pacific/Apia", "2011-12-29T00:00:00Z")}) {
    const cctz::time_zone zone = find_time_zone(name).value();
    const Timestamp end = at(begin) + std::chrono::hours(48);
    Times expected;
    for (Timestamp time = at(begin) + std::chrono::minutes(1); time <= end; time += std::chrono::minutes(1)) {
      const cctz::civil_second local = cctz::convert(std::chrono::time_point_cast<cctz::seconds>(time), zone);
      const bool hour = ((fields.hours >> static_cast<unsigned>(local.hour())) & 1U) != 0;
      const bool minute = ((fields.minutes >> static_cast<unsigned>(local.minute())) & 1U) != 0;
      if (hour && minute && fields.matches(cctz::civil_day(local))) expected.push_back(format_rfc3339(time));
    }
    Times found;
    for (auto next = schedule.first_after(at(begin), zone); next && *next <= end;
         next = schedule.first_after(*next, zone)) {
      found.push_back(format_rfc3339(*next));
    }
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(Schedule, RefusesWhatItCannotParse) {
  const auto refuses = [](const std::string& text, const char* message) {
    EXPECT_THAT(Schedule::parse(text), IsError(ErrorCode::kInvalidArgument, HasSubstr(message))) << text;
  };
  refuses("", "is empty");
  refuses("  ", "is empty");
  refuses("invalid cron", "has 2 fields, expected 5");
  refuses("TZ=UTC 0 0 * * *", "use spec.timeZone");
  refuses("CRON_TZ=UTC 0 0 * * *", "use spec.timeZone");
  refuses("@reboot", "is not a descriptor, which are @yearly, @annually, @monthly");
  refuses("@Daily", "is not a descriptor");
  refuses("@every", "is not a descriptor");
  refuses("@every 1 hour", "@every \"1 hour\": is not a duration, such as 1h30m");
  refuses("@every -5m", "is not a duration");
  refuses("@every 59s", "must be at least 1m");
  refuses("0 0 30 2 *", "so there is never a run");
  refuses(std::string(2000, '*'), "has 2000 characters, more than 1024");
}

}  // namespace
}  // namespace tpuslice::raycronjob
