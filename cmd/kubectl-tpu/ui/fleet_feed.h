// FleetFeed: the fleet that all pages share, read no more often than once in an interval. FleetStream: one page that
// follows it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice::plugin {

inline constexpr std::size_t kMaxProblem = 1000;  ///< Bytes of the text of an error that a page is sent.

/// A reading that takes long is followed by a pause of so many times that, so that a large cluster is read for a tenth
/// of the time at most.
inline constexpr int kPauseOfReading = 9;

/// What was read last.
struct FleetReading {
  std::shared_ptr<const Json> fleet;  ///< The last one that could be read; null before the first.
  std::string problem;                ///< Why the latest attempt failed; empty if it did not.
};

/// The first caller after the interval calls the source, and never two at a time; the others wait for the
/// answer. Thread-safe.
class FleetFeed {
 public:
  using Source = std::function<Result<Json>()>;

  /// `clock` outlives the feed.
  FleetFeed(Source source, Duration interval, const Clock& clock)
      : source_(std::move(source)), interval_(interval), clock_(clock) {}

  /// Absent after `stop`.
  [[nodiscard]] std::optional<FleetReading> latest(const std::stop_token& stop = {}) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] Duration interval() const { return interval_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }

 private:
  const Source source_;
  const Duration interval_;
  const Clock& clock_;
  Mutex mutex_;
  ConditionVariable read_;
  bool reading_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::optional<Instant> due_ TPUSLICE_GUARDED_BY(mutex_);  ///< Absent before the first reading.
  FleetReading latest_ TPUSLICE_GUARDED_BY(mutex_);
};

/// Server-sent events: "fleet" with the whole document, then "diff" (fleet_diff.h) when it changed, at most one in an
/// interval; "problem" with a message while it cannot be read, and with an empty one when it can again.
class FleetStream final : public http::Stream {
 public:
  explicit FleetStream(std::shared_ptr<FleetFeed> feed) : feed_(std::move(feed)) {}

  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const http::Headers& headers() const override { return headers_; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override;

 private:
  [[nodiscard]] std::string events_of(const FleetReading& reading);

  const std::shared_ptr<FleetFeed> feed_;
  const http::Headers headers_;
  std::shared_ptr<const Json> sent_;
  std::string problem_;
  std::optional<Instant> next_;  ///< Absent before the first event.
};

/// One server-sent event.
[[nodiscard]] std::string server_sent_event(std::string_view name, const Json& data);

}  // namespace tpuslice::plugin
