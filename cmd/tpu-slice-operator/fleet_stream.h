// FleetStream: the fleet as server-sent events, one whenever it has changed.
#pragma once

#include <functional>
#include <string>

#include "api/base/clock.h"
#include "api/http/transport.h"

namespace tpuslice {

struct FleetStreamOptions {
  Duration interval = std::chrono::seconds(1);    ///< Between two looks.
  Duration heartbeat = std::chrono::seconds(15);  ///< Between two comments without an event.
  Duration max_age = std::chrono::minutes(5);     ///< Then the stream ends; a browser connects again.
};

/// Sends "event: fleet" with the text as data; "event: problem" with a message if there is none.
class FleetStream final : public http::Stream {
 public:
  /// `text`: what is to be seen now, one line. `clock` outlives it.
  FleetStream(std::function<Result<std::string>()> text, const Clock& clock, FleetStreamOptions options);

  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const http::Headers& headers() const override { return headers_; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override;

 private:
  /// The next event; empty if nothing has changed.
  [[nodiscard]] std::string next_event();

  const std::function<Result<std::string>()> text_;
  const Clock& clock_;
  const FleetStreamOptions options_;
  const http::Headers headers_;
  const Instant end_;
  Instant due_;
  Instant last_sent_;
  std::string sent_;  ///< The last event, without the time of the fleet.
};

}  // namespace tpuslice
