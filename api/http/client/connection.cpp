#include "api/http/client/connection.h"

#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "api/http/client/answer_head.h"
#include "api/http/client/gunzip.h"
#include "api/http/client/resolver.h"
#include "api/http/client/tunnel.h"

namespace tpuslice::http {
namespace {

namespace beast = boost::beast;

constexpr std::size_t kMaxBuffer = std::size_t{2} * kMaxHead;

}  // namespace

Connection::Connection(const Connector& connector)
    : connector_(connector), opened_(clock_.now()), buffer_(kMaxBuffer) {}

Result<std::unique_ptr<Connection>> Connection::open(const Connector& connector, SSL_CTX* context, const Call& call) {
  std::unique_ptr<Connection> connection(new Connection(connector));
  RETURN_IF_ERROR(connection->connect(call));
  const std::stop_callback on_stop(call.stop, [socket = connection->socket_.get()] { socket->interrupt(); });
  if (context != nullptr) {
    if (connector.proxy) RETURN_IF_ERROR(connection->ask_for_tunnel(call));
    RETURN_IF_ERROR(connection->start_tls(context, call));
  }
  return connection;
}

Status Connection::connect(const Call& call) {
  const BaseUrl& target = connector_.proxy ? *connector_.proxy : connector_.server;
  const auto addresses = resolve(target.host, target.port, call.until, call.stop);
  if (!addresses) return addresses.error().within(call.what);
  Socket::ErrorCode problem;
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    socket_ = std::make_unique<Socket>();
    // An address that does not answer leaves time for the others.
    const Instant now = clock_.now();
    const auto left = static_cast<std::int64_t>(addresses->size() - i);
    socket_->set_limits(now + (call.until - now) / left, connector_.options.idle_timeout);
    const std::stop_callback on_stop(call.stop, [this] { socket_->interrupt(); });
    problem = socket_->connect((*addresses)[i]);
    if (!problem) break;
    if (call.stop.stop_requested() || clock_.now() >= call.until) return error_of(problem, call);
  }
  if (problem) return Error::unavailable("{}: no connection: {}", call.what, problem.message());
  socket_->set_limits(call.until, connector_.options.idle_timeout);
  set_socket_options(socket_->descriptor(), connector_.options);
  return {};
}

Status Connection::ask_for_tunnel(const Call& call) {
  Socket::ErrorCode problem;
  const std::string request = tunnel_request(connector_.server, *connector_.proxy);
  boost::asio::write(*socket_, boost::asio::buffer(request), problem);
  beast::http::response_parser<beast::http::empty_body> parser;
  parser.skip(true);
  if (!problem) beast::http::read(*socket_, buffer_, parser, problem);
  if (problem) return error_of(problem, call);
  const unsigned status = parser.get().result_int();
  if (status / 100 != 2) {
    return Error::unavailable("{}: the proxy {} opens no tunnel: status {}", call.what, connector_.proxy->origin(),
                              status);
  }
  // Bytes that the proxy sent too early would be read as if they had come through TLS.
  if (buffer_.size() > 0) {
    return Error::unavailable("{}: the proxy {} sent bytes before TLS", call.what, connector_.proxy->origin());
  }
  return {};
}

Status Connection::start_tls(SSL_CTX* context, const Call& call) {
  const std::string& host = connector_.expected_host;
  const bool address = is_ipv4(host) || is_ipv6(host);
  const Socket::ErrorCode problem = socket_->start_tls(context, address ? std::string() : host);
  if (!problem) return {};
  const std::string refused = socket_->refused_certificate();
  if (!refused.empty()) return refused_certificate(call.what, refused, connector_);
  return error_of(problem, call);
}

Socket::ErrorCode Connection::write(const Call& call) {
  socket_->set_limits(call.until, connector_.options.idle_timeout);
  Socket::ErrorCode problem;
  boost::asio::write(*socket_, boost::asio::buffer(call.text), problem);
  return problem;
}

Failure Connection::failure_of(const Call& call, const Socket::ErrorCode& problem, const Socket::ErrorCode& unsent,
                               bool answered) const {
  const Error error = error_of(unsent && !answered ? unsent : problem, call);
  return {error, static_cast<bool>(unsent), !answered && error.code() == ErrorCode::kUnavailable};
}

std::optional<Failure> Connection::exchange(const Call& call, Response& response) {
  const std::stop_callback on_stop(call.stop, [this] { socket_->interrupt(); });
  kept_ = false;
  const Socket::ErrorCode unsent = write(call);
  // A server may refuse a request before it has read all of it; its reply is still read.
  Socket::ErrorCode problem;
  const bool answered = read_answer(call, response, problem);
  if (problem) {
    // The caller takes a write that has no answer for one that may have happened until now, but not later.
    if (call.method != "GET") socket_->drop_unsent();
    return failure_of(call, problem, unsent, answered);
  }
  kept_ = kept_ && !unsent;
  if (auto error = unpack(call, response)) return Failure{*std::move(error)};
  return std::nullopt;
}

bool Connection::read_answer(const Call& call, Response& response, Socket::ErrorCode& problem) {
  std::optional<beast::http::response_parser<beast::http::string_body>> parser;
  // Head and body are read separately: when Beast reads both at once, it loses the error of a Content-Length over the
  // limit.
  const bool answered =
      read_head(*socket_, buffer_, call.method == "HEAD", call.max_response, parser, response, problem);
  if (!problem) beast::http::read(*socket_, buffer_, *parser, problem);
  if (problem) return answered;
  auto message = parser->release();
  response.body = std::move(message.body());
  kept_ = message.keep_alive() && !message.need_eof();
  return answered;
}

std::optional<Error> unpack(const Call& call, Response& response) {
  if (!is_gzip(response.headers) || response.body.empty()) return std::nullopt;
  std::string unpacked;
  const auto problem = gunzip(response.body, call.max_response, unpacked);
  if (problem == GunzipProblem::kTooLong) return too_long(call);
  if (problem) return Error::unavailable("{}: the compressed body is damaged", call.what);
  response.body = std::move(unpacked);
  return std::nullopt;
}

Error too_long(const Call& call) {
  return Error::of(ErrorCode::kResponseTooLong, "{}: the response is longer than {} bytes", call.what,
                   call.max_response);
}

Error cancelled(const Call& call) { return Error::of(ErrorCode::kCancelled, "{}: cancelled", call.what); }

Error no_answer_in_time(const Call& call) { return Error::of(ErrorCode::kTimeout, "{}: no answer in time", call.what); }

Error no_bytes_received(const Call& call, Duration idle) {
  return Error::of(ErrorCode::kTimeout, "{}: no bytes received for {} s", call.what,
                   std::chrono::duration_cast<std::chrono::seconds>(idle).count());
}

Error Connection::error_of(const Socket::ErrorCode& problem, const Call& call) const {
  if (call.stop.stop_requested()) return cancelled(call);
  if (problem == beast::http::error::body_limit) return too_long(call);
  if (problem == boost::system::errc::timed_out && clock_.now() < call.until) {
    return no_bytes_received(call, connector_.options.idle_timeout);
  }
  if (problem == boost::system::errc::timed_out) return no_answer_in_time(call);
  if (!socket_->tls_problem().empty()) return Error::unavailable("{}: TLS: {}", call.what, socket_->tls_problem());
  return Error::unavailable("{}: connection lost: {}", call.what, problem.message());
}

}  // namespace tpuslice::http
