#include "cmd/tpu-slice-sim/server/in_process_transport.h"

namespace tpuslice::sim {
namespace {

/// A complete body in response to a watch, for example an error.
class WholeBody final : public http::Stream {
 public:
  explicit WholeBody(http::Response response) : response_(std::move(response)) {}

  [[nodiscard]] int status() const override { return response_.status; }
  [[nodiscard]] const http::Headers& headers() const override { return response_.headers; }
  [[nodiscard]] Result<std::string> read(Duration /*wait*/, std::stop_token /*stop*/) override {
    if (read_ || response_.body.empty()) return http::end_of_stream();
    read_ = true;
    return response_.body;
  }

 private:
  const http::Response response_;
  bool read_ = false;
};

Error cancelled(const http::Request& request) {
  return Error::of(ErrorCode::kCancelled, "{} {} was cancelled", request.method, request.target);
}

}  // namespace

Result<http::Response> InProcessTransport::call(const http::Request& request, Duration deadline, std::stop_token stop) {
  if (stop.stop_requested() || (request.may_send && !request.may_send())) return cancelled(request);
  http::Reply reply = server_.handle(request, user_);
  while (reply.stream) {
    Result<std::string> more = reply.stream->read(deadline, stop);
    if (!more && http::is_end_of_stream(more.error())) break;
    if (!more) return more.error();
    if (more->empty()) {
      return Error::of(ErrorCode::kTimeout, "{} {} did not end in time", request.method, request.target);
    }
    reply.response.body += *more;
  }
  return std::move(reply.response);
}

Result<std::unique_ptr<http::Stream>> InProcessTransport::open(const http::Request& request, Duration /*deadline*/,
                                                               std::stop_token stop) {
  if (stop.stop_requested()) return cancelled(request);
  http::Reply reply = server_.handle(request, user_);
  if (reply.stream) return std::move(reply.stream);
  return std::unique_ptr<http::Stream>(std::make_unique<WholeBody>(std::move(reply.response)));
}

}  // namespace tpuslice::sim
