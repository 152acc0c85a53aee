#include "tests/bench/lean_connection.h"

#include <sys/socket.h>

#include <array>
#include <limits>

#include <boost/beast/ssl.hpp>

namespace tpuslice::bench {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

asio::ssl::context make_context(const client::ClientConfig& config) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.add_certificate_authority(asio::buffer(config.ca));
  context.set_verify_mode(asio::ssl::verify_peer);
  if (!config.client_certificate.empty()) {
    context.use_certificate_chain(asio::buffer(config.client_certificate));
    context.use_private_key(asio::buffer(config.client_key), asio::ssl::context::pem);
  }
  return context;
}

}  // namespace

LeanConnection::LeanConnection(const client::ClientConfig& config, const http::BaseUrl& server)
    : context_(make_context(config)), stream_(io_, context_) {
  asio::ip::tcp::resolver resolver(io_);
  asio::connect(stream_.next_layer(), resolver.resolve(server.host, std::to_string(server.port)));
  stream_.next_layer().set_option(asio::ip::tcp::no_delay(true));
  stream_.handshake(asio::ssl::stream_base::client);
  common_ = fmt::format("Host: {}:{}\r\nAccept: application/json\r\n", server.host, server.port);
  if (!config.token.empty()) common_ += "Authorization: Bearer " + config.token + "\r\n";
  watch_.body_limit(std::numeric_limits<std::uint64_t>::max());
}

Status LeanConnection::post(const std::string& path, const std::string& body) {
  return exchange(fmt::format("POST {} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                              path, common_, body.size()),
                  body);
}

Status LeanConnection::get(const std::string& path) {
  return exchange(fmt::format("GET {} HTTP/1.1\r\n{}\r\n", path, common_), {});
}

Status LeanConnection::exchange(const std::string& head, const std::string& body) {
  message_ = head;
  message_ += body;
  asio::write(stream_, asio::buffer(message_));
  beast::http::response<beast::http::string_body> response;
  beast::http::read(stream_, buffer_, response);
  if (response.result_int() / 100 == 2) return {};
  return Error::unavailable("status {}: {}", response.result_int(), response.body());
}

Status LeanConnection::open(const std::string& path) {
  message_ = fmt::format("GET {} HTTP/1.1\r\n{}\r\n", path, common_);
  asio::write(stream_, asio::buffer(message_));
  beast::http::read_header(stream_, buffer_, watch_);  // leaves the watch itself to read()
  if (watch_.get().result_int() == 200) return {};
  return Error::unavailable("GET {}: status {}", path, watch_.get().result_int());
}

bool LeanConnection::read(std::string& out) {
  std::array<char, 64 * 1024> bytes{};
  auto& body = watch_.get().body();
  body.data = bytes.data();
  body.size = bytes.size();
  body.more = true;
  beast::error_code problem;
  beast::http::read_some(stream_, buffer_, watch_, problem);
  if (problem && problem != beast::http::error::need_buffer) return false;
  out.append(bytes.data(), bytes.size() - body.size);
  return !watch_.is_done();
}

void LeanConnection::shut_down() { ::shutdown(stream_.next_layer().native_handle(), SHUT_RDWR); }

}  // namespace tpuslice::bench
