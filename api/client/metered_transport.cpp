#include "api/client/metered_transport.h"

#include <utility>

namespace tpuslice::client {
namespace {

// Source: k8s.io/component-base/metrics/prometheus/restclient.
const Buckets kLatencies = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

}  // namespace

MeteredTransport::MeteredTransport(http::Transport& inner, Metrics& metrics, const Clock& clock, std::string host,
                                   Logger log)
    : inner_(inner), metrics_(metrics), clock_(clock), host_(std::move(host)), skew_(metrics, clock, std::move(log)) {}

Result<http::Response> MeteredTransport::call(const http::Request& request, Duration deadline, std::stop_token stop) {
  const Instant begun = clock_.now();
  const Timestamp asked = clock_.wall();
  Result<http::Response> response = inner_.call(request, deadline, std::move(stop));
  record(request.method, response ? response->status : 0, clock_.now() - begun);
  if (response) skew_.compare(response->headers, asked);
  return response;
}

Result<std::unique_ptr<http::Stream>> MeteredTransport::open(const http::Request& request, Duration deadline,
                                                             std::stop_token stop) {
  const Instant begun = clock_.now();
  Result<std::unique_ptr<http::Stream>> stream = inner_.open(request, deadline, std::move(stop));
  record(request.method, stream ? (*stream)->status() : 0, clock_.now() - begun);
  return stream;
}

void MeteredTransport::record(const std::string& method, int status, Duration took) {
  metrics_
      .counter("rest_client_requests_total", "Number of HTTP requests, partitioned by status code, method, and host.",
               {{"method", method}, {"code", status == 0 ? "<error>" : std::to_string(status)}, {"host", host_}})
      .increment();
  metrics_
      .histogram("rest_client_request_duration_seconds", "Request latency in seconds, broken down by verb and host.",
                 kLatencies, {{"verb", method}, {"host", host_}})
      .observe(std::chrono::duration<double>(took).count());
}

}  // namespace tpuslice::client
