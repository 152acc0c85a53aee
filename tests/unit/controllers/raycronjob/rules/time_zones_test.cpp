#include "controllers/raycronjob/rules/time_zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::raycronjob {
namespace {

using ::testing::HasSubstr;

TEST(TimeZones, AreFoundByName) {
  for (const char* name : {"UTC", "Europe/Berlin", "Asia/Taipei", "America/Argentina/Buenos_Aires", "Etc/GMT+5"}) {
    const Result<cctz::time_zone> zone = find_time_zone(name);
    ASSERT_TRUE(zone.ok()) << name << ": " << zone.error().message();
    EXPECT_EQ(zone->name(), name);
  }
}

TEST(TimeZones, OfOtherNamesAreRefused) {
  for (const char* name :
       {"", "Local", "CEST", "+02:00", "Fixed/UTC+02:00:00", "Europe", "Europe/", "/etc/hostname", "../zoneinfo/UTC",
        "zone.tab", "tzdata.zi", "leapseconds", "localtime", "right/UTC", "posix/Europe/Berlin", "Europe/Atlantis"}) {
    EXPECT_THAT(find_time_zone(name), IsError(ErrorCode::kInvalidArgument, HasSubstr("is not a name of the IANA")))
        << name;
  }
}

TEST(TimeZones, ThatDifferInCaseAreNamed) {
  EXPECT_THAT(find_time_zone("europe/berlin"), IsError(ErrorCode::kInvalidArgument, HasSubstr("Europe/Berlin is one")));
}

}  // namespace
}  // namespace tpuslice::raycronjob
