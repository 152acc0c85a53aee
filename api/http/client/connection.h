// Connection: one connection to the API server, on which the calling thread itself writes a request and reads the
// answer. Private to api/http.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/http/client/connector.h"
#include "api/http/client/failure.h"
#include "api/http/client/socket.h"
#include "api/http/transport.h"

#include <boost/beast/core/flat_buffer.hpp>

namespace tpuslice::http {

/// A request as it is sent, and what bounds it.
struct Call {
  std::string what;  ///< Begins the message of an error: "GET https://host/path".
  std::string method;
  std::string text;  ///< Head and body.
  Instant until;
  std::stop_token stop;
  std::function<bool()> may_send = {};  ///< The same as in http::Request.
  std::size_t max_response = 0;         ///< Bytes.
};

/// The error of a response over the limit of `call`.
[[nodiscard]] Error too_long(const Call& call);
/// Unpacks a compressed body. Errors: too_long(); Unavailable for a damaged body.
[[nodiscard]] std::optional<Error> unpack(const Call& call, Response& response);
/// The errors of a call that was stopped, that got no answer in time, and that got no bytes for `idle`.
[[nodiscard]] Error cancelled(const Call& call);
[[nodiscard]] Error no_answer_in_time(const Call& call);
[[nodiscard]] Error no_bytes_received(const Call& call, Duration idle);

/// Used by one thread at a time.
class Connection {
 public:
  /// Connects, through the proxy where there is one. `context` is null for plain HTTP; both outlive the connection.
  /// Errors: Unavailable, Timeout, Cancelled.
  static Result<std::unique_ptr<Connection>> open(const Connector& connector, SSL_CTX* context, const Call& call);

  /// Sends `call` and reads the whole answer into `response`. After a failure the connection cannot be used again.
  std::optional<Failure> exchange(const Call& call, Response& response);

  /// For an answer that is read elsewhere (response_stream.h): writes `call`, within its limits.
  [[nodiscard]] Socket::ErrorCode write(const Call& call);
  /// The failure for `problem`. `unsent`: the error of write(). `answered`: some bytes of a response were received.
  [[nodiscard]] Failure failure_of(const Call& call, const Socket::ErrorCode& problem, const Socket::ErrorCode& unsent,
                                   bool answered) const;
  [[nodiscard]] Socket& socket() { return *socket_; }
  [[nodiscard]] boost::beast::flat_buffer& buffer() { return buffer_; }

  /// The server keeps the connection open for another request.
  [[nodiscard]] bool kept() const { return kept_; }
  [[nodiscard]] Instant opened() const { return opened_; }
  /// The server has closed the connection since the last response.
  [[nodiscard]] bool stale() const { return buffer_.size() > 0 || socket_->readable(); }

 private:
  explicit Connection(const Connector& connector);
  Status connect(const Call& call);
  Status ask_for_tunnel(const Call& call);
  Status start_tls(SSL_CTX* context, const Call& call);
  [[nodiscard]] bool read_answer(const Call& call, Response& response, Socket::ErrorCode& problem);
  [[nodiscard]] Error error_of(const Socket::ErrorCode& problem, const Call& call) const;

  const Connector& connector_;
  const RealClock clock_;
  const Instant opened_;
  std::unique_ptr<Socket> socket_;
  boost::beast::flat_buffer buffer_;  ///< Bounded: a line of the framing without an end is not read on.
  bool kept_ = false;
};

}  // namespace tpuslice::http
