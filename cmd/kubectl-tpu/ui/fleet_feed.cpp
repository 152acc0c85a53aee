#include "cmd/kubectl-tpu/ui/fleet_feed.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "api/types/json_text.h"
#include "api/types/utf8.h"
#include "cmd/kubectl-tpu/ui/fleet_diff.h"

namespace tpuslice::plugin {

std::optional<FleetReading> FleetFeed::latest(const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
    read_.wait(mutex_, stop, [this]() TPUSLICE_REQUIRES(mutex_) { return !reading_; });
    if (stop.stop_requested()) return std::nullopt;
    if (due_ && clock_.now() < *due_) return latest_;
    reading_ = true;
  }
  const Instant began = clock_.now();
  Result<Json> fleet = source_();
  const Instant ended = clock_.now();
  const MutexLock lock(mutex_);
  reading_ = false;
  due_ = ended + std::max(interval_, kPauseOfReading * (ended - began));
  if (fleet) {
    latest_ = {std::make_shared<const Json>(*std::move(fleet)), ""};
  } else {
    latest_.problem = clip(fleet.error().message(), kMaxProblem);
  }
  read_.notify_all();
  return latest_;
}

std::string server_sent_event(std::string_view name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, print_json(data));  // Printed JSON has no line ends.
}

std::string FleetStream::events_of(const FleetReading& reading) {
  std::string out;
  if (reading.fleet && reading.fleet != sent_) {
    if (!sent_) {
      out = server_sent_event("fleet", *reading.fleet);
    } else if (const Json diff = diff_fleets(*sent_, *reading.fleet); !diff.empty()) {
      out = server_sent_event("diff", diff);
    }
    sent_ = reading.fleet;
  }
  if (reading.problem != problem_) {
    problem_ = reading.problem;
    out += server_sent_event("problem", {{"message", problem_}});
  }
  return out;
}

Result<std::string> FleetStream::read(Duration wait, std::stop_token stop) {
  const Instant now = feed_->clock().now();
  if (next_ && now < *next_) {
    pause(std::min(wait, *next_ - now), stop);
    if (!stop.stop_requested() && feed_->clock().now() < *next_) return std::string();
  }
  const std::optional<FleetReading> reading = feed_->latest(stop);
  if (!reading) return Error(ErrorCode::kCancelled, "the stream was stopped");
  next_ = feed_->clock().now() + feed_->interval();
  return events_of(*reading);
}

}  // namespace tpuslice::plugin
