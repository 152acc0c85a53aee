#include "api/client/clock_skew.h"

#include <ctime>
#include <optional>
#include <string>
#include <utility>

namespace tpuslice::client {
namespace {

constexpr Duration kLogged = std::chrono::minutes(1);
constexpr Duration kLogInterval = std::chrono::hours(1);
constexpr Duration kPrecision = std::chrono::seconds(1);  ///< Precision of Date.

/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<Timestamp> parse_date(const std::string& text) {
  std::tm date{};
  const char* end = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timestamp_of(timegm(&date));
}

/// Positive if the clock that read `asked` and `answered` is ahead.
Duration skew_of(Timestamp date, Timestamp asked, Timestamp answered) {
  if (date > answered) return answered - date;
  return date + kPrecision < asked ? asked - date - kPrecision : Duration::zero();
}

}  // namespace

ClockSkew::ClockSkew(Metrics& metrics, const Clock& clock, Logger log)
    : skew_(
          metrics.gauge("tpuslice_clock_skew_seconds",
                        "Seconds by which this machine's clock is ahead of the API server's, or behind if negative.")),
      clock_(clock),
      log_(std::move(log)) {}

void ClockSkew::compare(const http::Headers& answer, Timestamp asked) {
  const std::string* header = http::find_header(answer, "Date");
  const std::optional<Timestamp> date = header == nullptr ? std::nullopt : parse_date(*header);
  if (!date) return;
  const Duration skew = skew_of(*date, asked, clock_.wall());
  skew_.set(std::chrono::duration<double>(skew).count());
  if (skew < kLogged && skew > -kLogged) return;
  const Instant now = clock_.now();
  Instant due = next_log_;
  if (now < due || !next_log_.compare_exchange_strong(due, now + kLogInterval)) return;
  log_.warn("clock differs from the API server's", {{"ahead", skew}});
}

}  // namespace tpuslice::client
