#include "api/base/clock.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(FakeClock, StartsAtNewYear2026AndDoesNotAdvance) {
  const FakeClock clock;
  EXPECT_EQ(format_rfc3339(clock.wall()), "2026-01-01T00:00:00Z");
  EXPECT_EQ(clock.now(), clock.now());
}

TEST(FakeClock, AdvancesBothClocks) {
  FakeClock clock;
  const Instant start = clock.now();
  clock.advance(seconds(90));
  EXPECT_EQ(clock.now() - start, seconds(90));
  EXPECT_EQ(format_rfc3339(clock.wall()), "2026-01-01T00:01:30Z");
}

TEST(Rfc3339, PrintsWholeSecondsAndMicroseconds) {
  const Timestamp time = FakeClock().wall() + hours(24 * 59) + microseconds(1234567);
  EXPECT_EQ(format_rfc3339(time), "2026-03-01T00:00:01Z");
  EXPECT_EQ(format_rfc3339_micro(time), "2026-03-01T00:00:01.234567Z");
}

TEST(Rfc3339, PrintsTimesBeforeTheEpochRoundedDown) {
  const Timestamp time = Timestamp(nanoseconds(-1));
  EXPECT_EQ(format_rfc3339(time), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_rfc3339_micro(time), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsWhatItPrints) {
  const Timestamp time = FakeClock().wall() + microseconds(5);
  EXPECT_EQ(parse_rfc3339(format_rfc3339_micro(time)), time);
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const Timestamp expected = FakeClock().wall() + milliseconds(500);
  EXPECT_EQ(parse_rfc3339("2026-01-01T02:00:00.5+02:00"), expected);
  EXPECT_EQ(parse_rfc3339("2025-12-31T18:30:00.500000000-05:30"), expected);
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z").has_value(), true);
}

TEST(Rfc3339, RefusesInvalidTimes) {
  for (const char* text :
       {"", "2026", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01 00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0200", "2026-01-01T00:00:00Zx", "0001-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z", "2026-01-01T00:00:00+24:00", "-026-01-01T00:00:00Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tpuslice
