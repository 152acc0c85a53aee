#include "api/base/clock.h"

#include <time.h>

#include <cstdint>

#include <fmt/core.h>

namespace tpuslice {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

// The range of nanoseconds in 64 bits, less a year on both ends.
constexpr year_month_day kFirstDate = year(1679) / 1 / 1;
constexpr year_month_day kLastDate = year(2260) / 12 / 31;
constexpr Timestamp kFakeStart = sys_days(year(2026) / 1 / 1);

/// Takes text from the front; every failure leaves `ok` false and later calls harmless.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    if (rest_.size() < count) return fail();
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return fail();
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  void expect(char c) {
    if (!take(c)) fail();
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// The digits after a decimal point as nanoseconds; digits beyond nine are cut.
  nanoseconds fraction() {
    std::int64_t value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9'; ++count) {
      if (count < 9) value = value * 10 + (rest_[count] - '0');
    }
    if (count == 0) fail();
    rest_.remove_prefix(count);
    for (std::size_t i = count; i < 9; ++i) value *= 10;
    return nanoseconds(value);
  }
  /// "Z" or "+hh:mm" or "-hh:mm".
  minutes offset() {
    if (take('Z') || take('z')) return minutes(0);
    const bool west = take('-');
    if (!west) expect('+');
    const int hour = digits(2);
    expect(':');
    const int minute = digits(2);
    if (hour > 23 || minute > 59) fail();
    return (west ? -1 : 1) * (hours(hour) + minutes(minute));
  }
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  int fail() {
    ok_ = false;
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// "2026-01-01T00:00:00" and the fraction of a second.
std::pair<std::string, nanoseconds> format_seconds(Timestamp time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const auto day = std::chrono::floor<days>(whole);
  const year_month_day date(day);
  const auto in_day = (whole - day).count();
  return {fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), in_day / 3600,
                      in_day / 60 % 60, in_day % 60),
          time - whole};
}

}  // namespace

// CLOCK_BOOTTIME also counts while the machine is suspended, unlike steady_clock: a lease expires meanwhile.
Instant RealClock::now() const {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Instant(seconds(time.tv_sec) + nanoseconds(time.tv_nsec));
}
Timestamp RealClock::wall() const { return std::chrono::system_clock::now(); }

FakeClock::FakeClock() = default;
// Starts at an hour, so that an Instant of zero lies in the past.
Instant FakeClock::now() const { return Instant(hours(1) + Duration(elapsed_.load())); }
Timestamp FakeClock::wall() const { return kFakeStart + Duration(elapsed_.load()); }
void FakeClock::advance(Duration by) { elapsed_.fetch_add(by.count()); }

std::string format_rfc3339(Timestamp time) { return format_seconds(time).first + "Z"; }

std::string format_rfc3339_micro(Timestamp time) {
  const auto [text, rest] = format_seconds(time);
  return fmt::format("{}.{:06}Z", text, std::chrono::floor<microseconds>(rest).count());
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  Scanner scan(text);
  const int y = scan.digits(4);
  scan.expect('-');
  const int month = scan.digits(2);
  scan.expect('-');
  const int day = scan.digits(2);
  if (!scan.take('T')) scan.expect('t');
  const int hour = scan.digits(2);
  scan.expect(':');
  const int minute = scan.digits(2);
  scan.expect(':');
  const int second = scan.digits(2);
  const nanoseconds fraction = scan.take('.') ? scan.fraction() : nanoseconds(0);
  const minutes offset = scan.offset();
  if (!scan.done() || hour > 23 || minute > 59 || second > 59) return std::nullopt;

  const year_month_day date = year(y) / month / day;
  if (!date.ok() || date < kFirstDate || date > kLastDate) return std::nullopt;
  return Timestamp(sys_days(date)) + hours(hour) + minutes(minute) + seconds(second) + fraction - offset;
}

std::optional<Timestamp> timestamp_of(std::int64_t unix_seconds) {
  const std::chrono::sys_seconds time{seconds(unix_seconds)};
  if (time < sys_days(kFirstDate) || time >= sys_days(kLastDate) + days(1)) return std::nullopt;
  return Timestamp(time);
}

}  // namespace tpuslice
