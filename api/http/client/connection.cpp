#include "api/http/client/connection.h"

#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "api/base/strings.h"
#include "api/http/client/gunzip.h"
#include "api/http/client/tunnel.h"

namespace tpuslice::http {
namespace {

namespace beast = boost::beast;

constexpr std::uint32_t kMaxHead = 256U << 10U;

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(Connector& connector, SSL_CTX* context, const Call& call) {
  std::unique_ptr<Connection> connection(new Connection(connector));
  RETURN_IF_ERROR(connection->connect(call));
  const std::stop_callback on_stop(call.stop, [socket = connection->socket_.get()] { socket->interrupt(); });
  if (context != nullptr) {
    if (connector.proxy) RETURN_IF_ERROR(connection->ask_for_tunnel(call));
    RETURN_IF_ERROR(connection->start_tls(context, connector, call));
  }
  return connection;
}

Status Connection::connect(const Call& call) {
  const BaseUrl& target = connector_.proxy ? *connector_.proxy : connector_.server;
  const auto addresses = resolve(target.host, target.port, call.until, call.stop);
  if (!addresses) return addresses.error().within(call.what);
  Socket::ErrorCode problem;
  for (const Address& address : *addresses) {
    socket_ = std::make_unique<Socket>();
    socket_->set_limits(call.until, connector_.options.idle_timeout);
    const std::stop_callback on_stop(call.stop, [this] { socket_->interrupt(); });
    problem = socket_->connect(address);
    if (!problem) break;
    if (call.stop.stop_requested() || clock_.now() >= call.until) return error_of(problem, call);
  }
  if (problem) return Error::unavailable("{}: no connection: {}", call.what, problem.message());
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
  if (status / 100 == 2) return {};
  return Error::unavailable("{}: the proxy {} opens no tunnel: status {}", call.what, connector_.proxy->origin(),
                            status);
}

Status Connection::start_tls(SSL_CTX* context, Connector& connector, const Call& call) {
  const std::string& host = connector.expected_host;
  const bool address = is_ipv4(host) || is_ipv6(host);
  const Socket::ErrorCode problem = socket_->start_tls(context, address ? std::string() : host);
  if (!problem) return {};
  const std::string refused = connector.take_refused();
  if (!refused.empty()) return refused_certificate(call.what, refused, connector);
  return error_of(problem, call);
}

std::optional<Failure> Connection::exchange(const Call& call, Response& response) {
  socket_->set_limits(call.until, connector_.options.idle_timeout);
  const std::stop_callback on_stop(call.stop, [this] { socket_->interrupt(); });
  answered_ = false;
  kept_ = false;
  Socket::ErrorCode problem;
  boost::asio::write(*socket_, boost::asio::buffer(call.text), problem);
  const bool unsent = static_cast<bool>(problem);
  // A server may refuse a request before it has read all of it; its reply is still read.
  read_answer(call, response, problem);
  if (problem) {
    const Error error = error_of(problem, call);
    return Failure{error, unsent, !answered_ && error.code() == ErrorCode::kUnavailable};
  }
  if (auto error = unpack(call, response)) return Failure{*std::move(error)};
  return std::nullopt;
}

void Connection::read_answer(const Call& call, Response& response, Socket::ErrorCode& problem) {
  const Socket::ErrorCode unsent = problem;
  while (true) {
    beast::http::response_parser<beast::http::string_body> parser;
    parser.header_limit(kMaxHead);
    parser.body_limit(connector_.options.max_response);
    parser.skip(call.method == "HEAD");
    problem = {};
    // Apart from the body, as Beast forgets a length that is over the limit when it reads on at once.
    beast::http::read_header(*socket_, buffer_, parser, problem);
    if (!problem) beast::http::read(*socket_, buffer_, parser, problem);
    answered_ = answered_ || parser.got_some();
    if (problem) {
      if (unsent && !answered_) problem = unsent;
      return;
    }
    auto message = parser.release();
    if (message.result_int() / 100 == 1) continue;  // What comes before the answer.
    response.status = static_cast<int>(message.result_int());
    response.headers.clear();
    for (const auto& field : message) {
      response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    response.body = std::move(message.body());
    kept_ = message.keep_alive() && !message.need_eof() && !unsent;
    return;
  }
}

std::optional<Error> Connection::unpack(const Call& call, Response& response) const {
  const std::string* encoding = find_header(response.headers, "content-encoding");
  if (encoding == nullptr || to_lower(*encoding) != "gzip" || response.body.empty()) return std::nullopt;
  std::string unpacked;
  const auto problem = gunzip(response.body, connector_.options.max_response, unpacked);
  if (problem == GunzipProblem::kTooLong) return too_long(call);
  if (problem) return Error::unavailable("{}: the compressed body is damaged", call.what);
  response.body = std::move(unpacked);
  return std::nullopt;
}

Error Connection::too_long(const Call& call) const {
  Error error =
      Error::invalid_argument("{}: the response is longer than {} bytes", call.what, connector_.options.max_response);
  error.with_reason(std::string(kResponseTooLong));
  return error;
}

Error Connection::error_of(const Socket::ErrorCode& problem, const Call& call) const {
  if (call.stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", call.what);
  if (problem == beast::http::error::body_limit) return too_long(call);
  if (problem == boost::system::errc::timed_out && clock_.now() < call.until) {
    return Error::of(ErrorCode::kTimeout, "{}: nothing was heard for {} s", call.what,
                     std::chrono::duration_cast<std::chrono::seconds>(connector_.options.idle_timeout).count());
  }
  if (problem == boost::system::errc::timed_out) {
    return Error::of(ErrorCode::kTimeout, "{}: no answer in time", call.what);
  }
  if (!socket_->tls_problem().empty()) return Error::unavailable("{}: TLS: {}", call.what, socket_->tls_problem());
  return Error::unavailable("{}: connection lost: {}", call.what, problem.message());
}

}  // namespace tpuslice::http
