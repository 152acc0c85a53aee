#include "controllers/raycronjob/rules/go_duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::raycronjob {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Eq;
using ::testing::Optional;

TEST(GoDuration, HasNumbersAndUnits) {
  EXPECT_THAT(parse_go_duration("90s"), Optional(Duration(seconds(90))));
  EXPECT_THAT(parse_go_duration("1h30m"), Optional(Duration(minutes(90))));
  EXPECT_THAT(parse_go_duration("1h0m2s3ms4us5ns"), Optional(hours(1) + seconds(2) + milliseconds(3) + Duration(4005)));
  EXPECT_THAT(parse_go_duration("1.5h"), Optional(Duration(minutes(90))));
  EXPECT_THAT(parse_go_duration(".5m"), Optional(Duration(seconds(30))));
  EXPECT_THAT(parse_go_duration("2.m"), Optional(Duration(minutes(2))));
  EXPECT_THAT(parse_go_duration("7\u00b5s"), Optional(Duration(7000)));
  EXPECT_THAT(parse_go_duration("0"), Optional(Duration::zero()));
  EXPECT_THAT(parse_go_duration("876000h"), Optional(Duration(hours(876000))));
}

TEST(GoDuration, IsNothingElse) {
  for (const char* text :
       {"", "1", "h", ".h", "1d", "1h 30m", " 1h", "-1h", "+1h", "1h30", "1e3s", "1..5h", "876001h",
        "99999999999999999999999h", "18446744133709551616ns", "20000000000000000000ns", "876000h1s"}) {
    EXPECT_THAT(parse_go_duration(text), Eq(std::nullopt)) << text;
  }
}

}  // namespace
}  // namespace tpuslice::raycronjob
