// InProcessTransport: an http::Transport that calls an ApiServer of the same process. JSON all the way, no threads.
#pragma once

#include "api/http/transport.h"
#include "api/sim/api_server.h"

namespace tpuslice::sim {

/// Thread-safe. `read(0)` of a watch polls, so that one thread can run clients and cluster in turns; `read(wait)`
/// blocks until there is an event.
class InProcessTransport final : public http::Transport {
 public:
  explicit InProcessTransport(ApiServer& server, UserInfo user = {}) : server_(server), user_(std::move(user)) {}

  [[nodiscard]] Result<http::Response> call(const http::Request& request, Duration deadline,
                                            std::stop_token stop) override;
  [[nodiscard]] Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                                           std::stop_token stop) override;

 private:
  ApiServer& server_;
  const UserInfo user_;
};

}  // namespace tpuslice::sim
