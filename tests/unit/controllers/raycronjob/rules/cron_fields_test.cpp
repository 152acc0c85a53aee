#include "controllers/raycronjob/rules/cron_fields.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::raycronjob {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> numbers(std::uint64_t bits) {
  std::vector<int> out;
  for (int i = 0; i < 64; ++i) {
    if (((bits >> static_cast<unsigned>(i)) & 1U) != 0) out.push_back(i);
  }
  return out;
}

CronFields fields_of(const std::string& text) {
  const Result<CronFields> fields = CronFields::parse(text);
  EXPECT_TRUE(fields.ok()) << text << ": " << fields.error().message();
  return fields.value_or(CronFields{});
}

std::vector<int> minutes_of(const std::string& field) { return numbers(fields_of(field + " * * * *").minutes); }

TEST(CronFields, HaveNumbersListsRangesAndSteps) {
  EXPECT_THAT(minutes_of("5"), ElementsAre(5));
  EXPECT_THAT(minutes_of("05"), ElementsAre(5));
  EXPECT_THAT(minutes_of("50,1,7"), ElementsAre(1, 7, 50));
  EXPECT_THAT(minutes_of("1-4,59"), ElementsAre(1, 2, 3, 4, 59));
  EXPECT_THAT(minutes_of("*/15"), ElementsAre(0, 15, 30, 45));
  EXPECT_THAT(minutes_of("?/20"), ElementsAre(0, 20, 40));
  EXPECT_THAT(minutes_of("10-30/10"), ElementsAre(10, 20, 30));
  // From the number to the end.
  EXPECT_THAT(minutes_of("40/10"), ElementsAre(40, 50));
  EXPECT_THAT(minutes_of("*/1000000"), ElementsAre(0));
  EXPECT_EQ(minutes_of("*").size(), 60U);
}

TEST(CronFields, HaveNamesInAnyCase) {
  EXPECT_THAT(numbers(fields_of("0 0 * JAN-mar,Dec *").months), ElementsAre(1, 2, 3, 12));
  EXPECT_THAT(numbers(fields_of("0 0 * * mon-FRI/2").weekdays), ElementsAre(1, 3, 5));
  EXPECT_THAT(numbers(fields_of("0 0 * * sun").weekdays), ElementsAre(0));
}

TEST(CronFields, MayBeSeparatedByAnySpace) { EXPECT_EQ(fields_of(" 1\t2  3 4 5\n"), fields_of("1 2 3 4 5")); }

TEST(CronFields, MatchADayByBothFieldsIfOneIsAny) {
  const cctz::civil_day friday(2026, 2, 13);
  EXPECT_TRUE(fields_of("0 0 13 * *").matches(friday));
  EXPECT_TRUE(fields_of("0 0 * * 5").matches(friday));
  EXPECT_FALSE(fields_of("0 0 14 * *").matches(friday));
  EXPECT_FALSE(fields_of("0 0 * * 4").matches(friday));
  EXPECT_FALSE(fields_of("0 0 13 3 *").matches(friday));
  EXPECT_FALSE(fields_of("0 0 */1 * 4").matches(friday)) << "a step of 1 is no step";
  EXPECT_FALSE(fields_of("0 0 *,3 * 4").matches(friday));
}

TEST(CronFields, MatchADayByEitherFieldIfBothAreRestricted) {
  const cctz::civil_day friday(2026, 2, 13);
  EXPECT_TRUE(fields_of("0 0 13 * 1").matches(friday));
  EXPECT_TRUE(fields_of("0 0 1 * 5").matches(friday));
  EXPECT_TRUE(fields_of("0 0 */2 * 1").matches(friday)) << "*/2 is a restriction";
  EXPECT_FALSE(fields_of("0 0 1 * 1").matches(friday));
}

TEST(CronFields, CountWeekdaysFromSunday) {
  for (int i = 0; i < 7; ++i) {
    const cctz::civil_day day = cctz::civil_day(2026, 2, 1) + i;  // A Sunday.
    for (int weekday = 0; weekday < 7; ++weekday) {
      EXPECT_EQ(fields_of("0 0 * * " + std::to_string(weekday)).matches(day), weekday == i);
    }
  }
}

struct WrongFields {
  const char* name;
  const char* text;
  const char* message;
};

void PrintTo(const WrongFields& wrong, std::ostream* out) { *out << wrong.text; }

class WrongCronFields : public ::testing::TestWithParam<WrongFields> {};

TEST_P(WrongCronFields, AreNamed) {
  EXPECT_THAT(CronFields::parse(GetParam().text), IsError(ErrorCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongCronFields,
    ::testing::Values(
        WrongFields{"TooFew", "* * * *", "has 4 fields, expected 5: minute, hour, day of month, month and day of week"},
        WrongFields{"TooMany", "0 0 0 * * *", "has 6 fields, expected 5"},
        WrongFields{"Minute", "60 * * * *", "minute \"60\": 60 is out of range, 0 to 59"},
        WrongFields{"Hour", "0 24 * * *", "hour \"24\": 24 is out of range, 0 to 23"},
        WrongFields{"Day", "0 0 0 * *", "day of month \"0\": 0 is out of range, 1 to 31"},
        WrongFields{"Month", "0 0 * 13 *", "month \"13\": 13 is out of range, 1 to 12, or jan to dec"},
        WrongFields{"Sunday", "0 0 * * 7", "day of week \"7\": 7 is out of range, 0 to 6, or sun to sat; Sunday is 0"},
        WrongFields{"RangeOfSunday", "0 0 * * 5-7", "Sunday is 0"},
        WrongFields{"LongName", "0 0 * january *", "month \"january\": \"january\" is not a value of this field"},
        WrongFields{"NameOfAnotherField", "0 0 * mon *", "month \"mon\": \"mon\" is not a value"},
        WrongFields{"Backwards", "30-10 * * * *", "minute \"30-10\": the range ends before it begins"},
        WrongFields{"BackwardsNames", "0 0 * * fri-mon", "the range ends before it begins"},
        WrongFields{"StepOfZero", "*/0 * * * *", "minute \"*/0\": the step is \"0\", it must be a number above 0"},
        WrongFields{"StepOfNothing", "*/ * * * *", "the step is \"\""},
        WrongFields{"NegativeStep", "*/-5 * * * *", "the step is \"-5\""},
        WrongFields{"TwoSteps", "*/5/2 * * * *", "has more than one step"},
        WrongFields{"TwoHyphens", "1-2-3 * * * *", "has more than one hyphen"},
        WrongFields{"OpenRange", "5- * * * *", "minute \"5-\": \"\" is not a value"},
        WrongFields{"Negative", "-5 * * * *", "minute \"-5\": \"\" is not a value"},
        WrongFields{"Sign", "+5 * * * *", "\"+5\" is not a value"},
        WrongFields{"RangeOfAny", "*-5 * * * *", "\"*\" is not a value"},
        WrongFields{"EmptyItem", "1,,2 * * * *", "minute \"1,,2\": the list has an empty item"},
        WrongFields{"LastItemEmpty", "1, * * * *", "the list has an empty item"},
        WrongFields{"Huge", "99999999999999999999 * * * *", "is not a value"},
        WrongFields{"LastDay", "0 0 L * *", "day of month \"L\": \"L\" is not a value"},
        WrongFields{"30February", "0 0 30 2 *", "day of month \"30\" is in no month of \"2\", so there is never a run"},
        WrongFields{"31OfShortMonths", "0 0 31 2,4,6,9,11 *", "so there is never a run"}),
    [](const auto& test) { return "T" + std::string(test.param.name); });

TEST(CronFields, OfRareDatesAreAccepted) {
  EXPECT_TRUE(CronFields::parse("0 0 29 2 *").ok());
  EXPECT_TRUE(CronFields::parse("0 0 31 2,3 *").ok());
  // On Mondays.
  EXPECT_TRUE(CronFields::parse("0 0 30 2 1").ok());
}

}  // namespace
}  // namespace tpuslice::raycronjob
