#include "api/http/testing/blocking_connection.h"

#include <sys/socket.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "api/http/tls/tls_context.h"

namespace tpuslice::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

class BlockingConnection::Impl {
 public:
  Impl() : context_(asio::ssl::context::tls_client) {}

  /// Configures TLS. Called first.
  Status set_up(const BlockingOptions& options) {
    SSL_CTX* context = context_.native_handle();
    RETURN_IF_ERROR(require_modern_tls(context));
    RETURN_IF_ERROR(trust_only(context, options.ca));
    RETURN_IF_ERROR(expect_host(context, options.server.host));
    context_.set_verify_mode(asio::ssl::verify_peer);
    if (!options.identity.certificate_chain.empty()) RETURN_IF_ERROR(use_identity(context, options.identity));
    stream_.emplace(io_, context_);
    return {};
  }

  void connect(const BlockingOptions& options) {
    const BaseUrl& server = options.server;
    asio::ip::tcp::resolver resolver(io_);
    const auto endpoints = resolver.resolve(server.host, std::to_string(server.port));
    if (options.local_address.empty()) {
      asio::connect(stream_->next_layer(), endpoints);
    } else {
      const asio::ip::tcp::endpoint local(asio::ip::make_address(options.local_address), 0);
      stream_->next_layer().open(local.protocol());
      if (options.window > 0) {
        stream_->next_layer().set_option(asio::socket_base::receive_buffer_size(options.window));
      }
      stream_->next_layer().bind(local);
      stream_->next_layer().connect(endpoints.begin()->endpoint());
    }
    stream_->next_layer().set_option(asio::ip::tcp::no_delay(true));
    stream_->handshake(asio::ssl::stream_base::client);
    common_ = fmt::format("Host: {}:{}\r\n", server.host, server.port);
    if (!options.token.empty()) common_ += "Authorization: Bearer " + options.token + "\r\n";
    watch_.body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  Status exchange(const std::string& first_line, const std::string& headers, const std::string& body) {
    send(first_line, "Accept: application/json\r\n" + headers, body);
    beast::http::response<beast::http::string_body> response;
    beast::http::read(*stream_, buffer_, response);
    if (response.result_int() / 100 == 2) return {};
    return Error::unavailable("{}: status {}: {}", first_line, response.result_int(), response.body());
  }

  Status open(const std::string& path, const std::string& accept) {
    send("GET " + path, "Accept: " + accept + "\r\n", {});
    beast::http::read_header(*stream_, buffer_, watch_);  // The body is left to read().
    if (watch_.get().result_int() == 200) return {};
    return Error::unavailable("GET {}: status {}", path, watch_.get().result_int());
  }

  bool read(std::string& out) {
    std::array<char, std::size_t{64} * 1024> bytes{};
    auto& body = watch_.get().body();
    body.data = bytes.data();
    body.size = bytes.size();
    body.more = true;
    beast::error_code problem;
    beast::http::read_some(*stream_, buffer_, watch_, problem);
    if (problem && problem != beast::http::error::need_buffer) return false;
    out.append(bytes.data(), bytes.size() - body.size);
    return !watch_.is_done();
  }

  Status send_bytes(std::string_view bytes) {
    asio::write(*stream_, asio::buffer(bytes.data(), bytes.size()));
    return {};
  }

  std::string receive_bytes(std::size_t limit) {
    std::string out(limit, '\0');
    beast::error_code problem;
    out.resize(stream_->read_some(asio::buffer(out.data(), out.size()), problem));
    return out;
  }

  void drop(std::size_t bytes) {
    std::string dropped(bytes, '\0');
    static_cast<void>(::recv(stream_->next_layer().native_handle(), dropped.data(), bytes, MSG_DONTWAIT));
  }

  void shut_down() { ::shutdown(stream_->next_layer().native_handle(), SHUT_RDWR); }

 private:
  void send(const std::string& first_line, const std::string& headers, const std::string& body) {
    message_ = fmt::format("{} HTTP/1.1\r\n{}{}\r\n", first_line, common_, headers);
    message_ += body;
    asio::write(*stream_, asio::buffer(message_));
  }

  asio::io_context io_;
  asio::ssl::context context_;
  std::optional<asio::ssl::stream<asio::ip::tcp::socket>> stream_;
  beast::flat_buffer buffer_;
  beast::http::response_parser<beast::http::buffer_body> watch_;
  std::string common_;
  std::string message_;
};

namespace {

/// What asio throws, as an error.
template <typename Call>
Status guarded(const Call& call) {
  try {
    return call();
  } catch (const boost::system::system_error& problem) {
    return Error::unavailable("{}", problem.what());
  }
}

}  // namespace

BlockingConnection::BlockingConnection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BlockingConnection::~BlockingConnection() = default;

Result<std::unique_ptr<BlockingConnection>> BlockingConnection::connect(const BlockingOptions& options) {
  auto impl = std::make_unique<Impl>();
  RETURN_IF_ERROR(impl->set_up(options));
  RETURN_IF_ERROR(guarded([&]() -> Status {
    impl->connect(options);
    return {};
  }));
  return std::unique_ptr<BlockingConnection>(new BlockingConnection(std::move(impl)));
}

Status BlockingConnection::post(const std::string& path, const std::string& body) {
  return guarded([&] {
    return impl_->exchange("POST " + path,
                           fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size()), body);
  });
}

Status BlockingConnection::get(const std::string& path) {
  return guarded([&] { return impl_->exchange("GET " + path, {}, {}); });
}

Status BlockingConnection::remove(const std::string& path) {
  return guarded([&] { return impl_->exchange("DELETE " + path, {}, {}); });
}

Status BlockingConnection::open(const std::string& path, const std::string& accept) {
  return guarded([&] { return impl_->open(path, accept); });
}

bool BlockingConnection::read(std::string& out) { return impl_->read(out); }

Status BlockingConnection::send_bytes(std::string_view bytes) {
  return guarded([&] { return impl_->send_bytes(bytes); });
}

std::string BlockingConnection::receive_bytes(std::size_t limit) { return impl_->receive_bytes(limit); }
void BlockingConnection::drop(std::size_t bytes) { impl_->drop(bytes); }

void BlockingConnection::shut_down() { impl_->shut_down(); }

}  // namespace tpuslice::http
