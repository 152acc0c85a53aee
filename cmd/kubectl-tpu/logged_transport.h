// LoggedTransport: logs each request with its status and time, as kubectl does with -v 6.
#pragma once

#include <memory>
#include <utility>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/http/transport.h"

namespace tpuslice::plugin {

/// Thread-safe. Headers and bodies are not logged.
class LoggedTransport final : public http::Transport {
 public:
  /// `clock` outlives it.
  LoggedTransport(std::unique_ptr<http::Transport> inner, const Clock& clock, Logger log)
      : inner_(std::move(inner)), clock_(clock), log_(std::move(log)) {}

  [[nodiscard]] Result<http::Response> call(const http::Request& request, Duration deadline,
                                            std::stop_token stop) override;
  [[nodiscard]] Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                                           std::stop_token stop) override;

 private:
  void log(const http::Request& request, int status, const Error* error, Instant begun) const;

  const std::unique_ptr<http::Transport> inner_;
  const Clock& clock_;
  const Logger log_;
};

}  // namespace tpuslice::plugin
