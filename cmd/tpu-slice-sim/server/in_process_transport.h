// InProcessTransport: an http::Transport that calls an ApiServer in the same process, without threads.
#pragma once

#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/server/api_server.h"

namespace tpuslice::sim {

/// Thread-safe. `read(0)` of a watch polls, so that one thread can alternate between clients and cluster; `read(wait)`
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
