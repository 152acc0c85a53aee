// Time: a duration type, steady and wall-clock time, and the Clock that returns both.
//
// An Instant (monotonic) measures how long something took and when it is due; a Timestamp (wall clock) is what the
// Kubernetes API prints. Only RealClock reads the machine's clock, and stacks.cpp in a process that hangs, so
// tests decide what time it is. What waits for a socket or a thread uses a RealClock.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tpuslice {

using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using Timestamp = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// When something is due that nothing is scheduled for.
inline constexpr Instant kNever = Instant::max();

/// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual Timestamp wall() const = 0;
};

class RealClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] Timestamp wall() const override;
};

/// A clock that changes only by advance(), which moves both times together.
class FakeClock final : public Clock {
 public:
  /// Starts at 2026-01-01T00:00:00Z.
  FakeClock();
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] Timestamp wall() const override;
  void advance(Duration by);

 private:
  std::atomic<Duration::rep> elapsed_{0};
};

/// "2026-01-01T00:00:00Z": metav1.Time, whole seconds, UTC.
[[nodiscard]] std::string format_rfc3339(Timestamp time);
/// "2026-01-01T00:00:00.123456Z": metav1.MicroTime.
[[nodiscard]] std::string format_rfc3339_micro(Timestamp time);
/// Accepts both of the above and numeric offsets; nothing for anything else.
[[nodiscard]] std::optional<Timestamp> parse_rfc3339(std::string_view text);
/// The time of a number of seconds since 1970; nothing outside of the years 1679 to 2260, as for parse_rfc3339().
[[nodiscard]] std::optional<Timestamp> timestamp_of(std::int64_t unix_seconds);

}  // namespace tpuslice
