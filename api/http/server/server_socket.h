// ServerSocket: the TCP connection of one session, with TLS or without. Private to this folder.
//
// Thousands can be open and idle, so it has no buffers: OpenSSL begins with the first byte of the client, reads and
// writes the socket itself, and releases its buffers while it waits. The stream of Boost.Asio has 68 KiB of buffers for
// each connection, from its beginning to its end.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "api/http/server/asio.h"
#include "api/http/tls/openssl.h"

namespace tpuslice::http {

using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// What a ServerSocket needs of the SSL_CTX of the server.
void configure_server_sockets(SSL_CTX* context);

/// An AsyncStream of Boost.Asio, used on its strand only. At most one read and one write at a time; their handlers get
/// an error and a number of bytes. Errors: operation_aborted after close(); eof where the client has ended the
/// connection properly.
class ServerSocket {
 public:
  using executor_type = asio::ip::tcp::socket::executor_type;
  using ErrorCode = boost::system::error_code;

  /// `tls` is null for plain HTTP.
  ServerSocket(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> tls);

  [[nodiscard]] executor_type get_executor() { return socket_.get_executor(); }
  [[nodiscard]] asio::ip::tcp::socket& tcp() { return socket_; }
  [[nodiscard]] bool has_tls() const { return tls_ != nullptr; }
  /// Null without TLS, and before the first byte of the client.
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }

  template <typename Handler>
  auto async_handshake(Handler&& handler) {
    return run([this](ErrorCode& problem, std::size_t&) { return handshake(problem); }, std::forward<Handler>(handler));
  }
  /// Waits until a read would return bytes or an error.
  template <typename Handler>
  auto async_wait_readable(Handler&& handler) {
    return run([this](ErrorCode& problem, std::size_t&) { return peek(problem); }, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return run([this, buffers](ErrorCode& problem, std::size_t& size) { return read(buffers, problem, size); },
               std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return run([this, buffers](ErrorCode& problem, std::size_t& size) { return write(buffers, problem, size); },
               std::forward<Handler>(handler));
  }
  /// Ends TLS: sends close_notify and waits for that of the client.
  template <typename Handler>
  auto async_shutdown(Handler&& handler) {
    return run([this](ErrorCode& problem, std::size_t&) { return shut_down(problem); }, std::forward<Handler>(handler));
  }
  void close();

 private:
  /// What an operation waits for.
  enum class Wait : std::uint8_t { kNothing, kRead, kWrite };

  /// Calls `attempt` until it waits for nothing.
  template <typename Attempt>
  struct Operation {
    ServerSocket& socket;
    Attempt attempt;
    ErrorCode problem = {};
    std::size_t size = 0;
    bool has_waited = false;
    bool is_done = false;

    template <typename Self>
    void operator()(Self& self, ErrorCode failed = {}) {
      if (is_done) return self.complete(problem, size);
      // Once it is closed, its descriptor may be that of another connection.
      problem = failed || socket.socket_.is_open() ? failed : ErrorCode(asio::error::operation_aborted);
      const Wait wait = problem ? Wait::kNothing : attempt(problem, size);
      if (wait != Wait::kNothing) {
        has_waited = true;
        const auto what = wait == Wait::kRead ? asio::socket_base::wait_read : asio::socket_base::wait_write;
        return socket.socket_.async_wait(what, std::move(self));
      }
      if (has_waited) return self.complete(problem, size);
      is_done = true;  // A handler is never called by the function that was given it.
      asio::post(std::move(self));
    }
  };

  template <typename Attempt, typename Handler>
  auto run(Attempt attempt, Handler&& handler) {
    return asio::async_compose<Handler, void(ErrorCode, std::size_t)>(Operation<Attempt>{*this, std::move(attempt)},
                                                                      handler, socket_);
  }

  template <typename Buffer, typename Buffers>
  static Buffer first_of(const Buffers& buffers) {
    for (auto each = asio::buffer_sequence_begin(buffers); each != asio::buffer_sequence_end(buffers); ++each) {
      if (const Buffer buffer(*each); buffer.size() > 0) return buffer;
    }
    return {};
  }

  template <typename Buffers>
  Wait read(const Buffers& buffers, ErrorCode& problem, std::size_t& size) {
    if (tls_) return read_tls(first_of<asio::mutable_buffer>(buffers), problem, size);
    size = socket_.read_some(buffers, problem);
    return wait_unless_done(problem, Wait::kRead);
  }
  template <typename Buffers>
  Wait write(const Buffers& buffers, ErrorCode& problem, std::size_t& size) {
    if (!tls_) {
      size = socket_.write_some(buffers, problem);
      return wait_unless_done(problem, Wait::kWrite);
    }
    const auto first = first_of<asio::const_buffer>(buffers);
    if (first.size() >= kRecord || first.size() == asio::buffer_size(buffers)) return write_tls(first, problem, size);
    std::array<char, kRecord> joined{};  // Header lines are buffers of their own.
    return write_tls(asio::buffer(joined, asio::buffer_copy(asio::buffer(joined), buffers)), problem, size);
  }

  static Wait wait_unless_done(ErrorCode& problem, Wait wait);
  Wait handshake(ErrorCode& problem);
  Wait peek(ErrorCode& problem);
  Wait shut_down(ErrorCode& problem);
  Wait read_tls(const asio::mutable_buffer& buffer, ErrorCode& problem, std::size_t& size);
  /// After kWrite, it is called again with the same bytes.
  Wait write_tls(const asio::const_buffer& buffer, ErrorCode& problem, std::size_t& size);
  template <typename Call>
  Wait over_tls(const Call& call, ErrorCode& problem);

  /// Bytes of a TLS record.
  static constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;

  const std::shared_ptr<asio::ssl::context> tls_;  ///< Its own, whatever the server changes to.
  asio::ip::tcp::socket socket_;
  SslPtr ssl_;
};

}  // namespace tpuslice::http
