#include "cmd/tpu-slice-operator/fleet_stream.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/pause.h"

namespace tpuslice {
namespace {

/// The text without the time at which the fleet was read, which is its last member: that alone is no change.
std::string without_time(const std::string& text) {
  constexpr std::string_view kTime = "\"time\":\"";
  const std::size_t begin = text.rfind(kTime);
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find('"', begin + kTime.size());
  return text.substr(0, begin) + text.substr(std::min(end, text.size()));
}

}  // namespace

FleetStream::FleetStream(std::function<Result<std::string>()> text, const Clock& clock, FleetStreamOptions options)
    : text_(std::move(text)),
      clock_(clock),
      options_(options),
      end_(clock.now() + options.max_age),
      due_(clock.now()),
      last_sent_(clock.now()) {}

Result<std::string> FleetStream::read(Duration wait, std::stop_token stop) {
  const Instant until = clock_.now() + wait;
  for (;;) {
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "fleet stream: stopped");
    const Instant now = clock_.now();
    if (now >= end_) return http::end_of_stream();
    if (now >= due_) {
      due_ = now + options_.interval;
      std::string event = next_event();
      if (event.empty() && now >= last_sent_ + options_.heartbeat) event = ": nothing has changed\n\n";
      if (!event.empty()) {
        last_sent_ = now;
        return event;
      }
    }
    if (now >= until) return std::string();
    pause(std::min({until, due_, end_}) - now, stop);
  }
}

std::string FleetStream::next_event() {
  const Result<std::string> text = text_();
  std::string seen = text ? sha256_hex(without_time(*text)) : text.error().message();
  if (seen == sent_) return {};
  sent_ = std::move(seen);
  if (!text) return fmt::format("event: problem\ndata: {}\n\n", text.error().message());
  return fmt::format("event: fleet\ndata: {}\n", *text);
}

}  // namespace tpuslice
