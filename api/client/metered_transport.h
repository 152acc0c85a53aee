// MeteredTransport: counts and times the requests that pass through it, under client-go's metric names, and compares
// clocks.
#pragma once

#include <memory>
#include <string>

#include "api/base/clock.h"
#include "api/base/metrics.h"
#include "api/client/clock_skew.h"
#include "api/http/transport.h"

namespace tpuslice::client {

/// rest_client_requests_total{method,code,host} and rest_client_request_duration_seconds{verb,host}. A request without
/// an answer has the code "<error>", as client-go's has. Thread-safe.
class MeteredTransport final : public http::Transport {
 public:
  /// `inner`, `metrics` and `clock` outlive it. `host` is the label of that name.
  MeteredTransport(http::Transport& inner, Metrics& metrics, const Clock& clock, std::string host, Logger log = {});

  [[nodiscard]] Result<http::Response> call(const http::Request& request, Duration deadline,
                                            std::stop_token stop) override;
  [[nodiscard]] Result<std::unique_ptr<http::Stream>> open(const http::Request& request, Duration deadline,
                                                           std::stop_token stop) override;

 private:
  void record(const std::string& method, int status, Duration took);

  http::Transport& inner_;
  Metrics& metrics_;
  const Clock& clock_;
  const std::string host_;
  ClockSkew skew_;
};

}  // namespace tpuslice::client
