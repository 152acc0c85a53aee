#include "cmd/kubectl-tpu/logged_transport.h"

namespace tpuslice::plugin {

Result<http::Response> LoggedTransport::call(const http::Request& request, Duration deadline, std::stop_token stop) {
  const Instant begun = clock_.now();
  Result<http::Response> response = inner_->call(request, deadline, std::move(stop));
  log(request, response ? response->status : 0, response ? nullptr : &response.error(), begun);
  return response;
}

Result<std::unique_ptr<http::Stream>> LoggedTransport::open(const http::Request& request, Duration deadline,
                                                            std::stop_token stop) {
  const Instant begun = clock_.now();
  Result<std::unique_ptr<http::Stream>> stream = inner_->open(request, deadline, std::move(stop));
  log(request, stream ? (*stream)->status() : 0, stream ? nullptr : &stream.error(), begun);
  return stream;
}

void LoggedTransport::log(const http::Request& request, int status, const Error* error, Instant begun) const {
  const Duration took = clock_.now() - begun;
  if (error != nullptr) {
    log_.debug("request failed",
               {{"method", request.method}, {"target", request.target}, {"error", error->message()}, {"took", took}});
    return;
  }
  log_.debug("request", {{"method", request.method}, {"target", request.target}, {"status", status}, {"took", took}});
}

}  // namespace tpuslice::plugin
