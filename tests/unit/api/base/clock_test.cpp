#include "api/base/clock.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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

/// Exit codes of the process in a time namespace.
constexpr int kCounts = 0;
constexpr int kDoesNotCount = 1;
constexpr int kNoNamespace = 2;

/// In a time namespace an hour more has passed since the machine started, none of it while it ran: it was suspended.
[[noreturn]] void read_the_clock_after_an_hour_of_suspension() {
  if (unshare(CLONE_NEWTIME) != 0) _exit(kNoNamespace);
  std::ofstream offsets("/proc/self/timens_offsets");
  offsets << "boottime 3600 0" << std::flush;
  if (!offsets) _exit(kNoNamespace);
  const Instant before = RealClock().now();
  // The namespace is that of processes that are created from now on.
  const pid_t child = fork();
  if (child == 0) _exit(RealClock().now() - before >= hours(1) ? kCounts : kDoesNotCount);
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kDoesNotCount);
}

TEST(RealClock, CountsTheTimeWhileTheMachineIsSuspended) {
  const pid_t child = fork();
  if (child == 0) read_the_clock_after_an_hour_of_suspension();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "time namespaces need CAP_SYS_ADMIN";
  EXPECT_EQ(WEXITSTATUS(status), kCounts);
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
