#include "api/http/server/server_socket.h"

#include <openssl/err.h>

#include <cerrno>

namespace tpuslice::http {

void configure_server_sockets(SSL_CTX* context) {
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);  // One system call for each record that is read, not two.
}

ServerSocket::ServerSocket(asio::ip::tcp::socket socket, std::shared_ptr<asio::ssl::context> tls)
    : tls_(std::move(tls)), socket_(std::move(socket)) {
  socket_.non_blocking(true);
}

void ServerSocket::close() {
  ErrorCode ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

ServerSocket::Wait ServerSocket::wait_unless_done(ErrorCode& problem, Wait wait) {
  if (problem != asio::error::would_block && problem != asio::error::try_again) return Wait::kNothing;
  problem = {};
  return wait;
}

/// `call` returns what SSL_get_error() wants to know.
template <typename Call>
ServerSocket::Wait ServerSocket::over_tls(const Call& call, ErrorCode& problem) {
  ERR_clear_error();
  errno = 0;
  const int result = call();
  const int system = errno;
  if (result > 0) return Wait::kNothing;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Wait::kRead;
    case SSL_ERROR_WANT_WRITE:
      return Wait::kWrite;
    case SSL_ERROR_ZERO_RETURN:
      problem = asio::error::eof;
      return Wait::kNothing;
    case SSL_ERROR_SYSCALL:
      problem = ErrorCode(system != 0 ? system : ECONNRESET, boost::system::system_category());
      return Wait::kNothing;
    default:
      problem = ErrorCode(static_cast<int>(ERR_get_error()), asio::error::get_ssl_category());
      if (!problem) problem = asio::error::connection_reset;
      return Wait::kNothing;
  }
}

ServerSocket::Wait ServerSocket::peek(ErrorCode& problem) {
  char byte = 0;
  if (ssl_) return over_tls([&] { return SSL_peek(ssl_.get(), &byte, 1); }, problem);
  socket_.receive(asio::buffer(&byte, 1), asio::socket_base::message_peek, problem);
  return wait_unless_done(problem, Wait::kRead);
}

ServerSocket::Wait ServerSocket::handshake(ErrorCode& problem) {
  if (!ssl_) {
    if (const Wait wait = peek(problem); wait != Wait::kNothing || problem) return wait;
    ssl_.reset(SSL_new(tls_->native_handle()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket_.native_handle()) != 1) {
      ssl_.reset();
      problem = asio::error::no_memory;
      return Wait::kNothing;
    }
  }
  return over_tls([this] { return SSL_accept(ssl_.get()); }, problem);
}

ServerSocket::Wait ServerSocket::shut_down(ErrorCode& problem) {
  const auto call = [this] {
    const int sent = SSL_shutdown(ssl_.get());
    return sent == 0 ? SSL_shutdown(ssl_.get()) : sent;  // 0: that of the client was not read yet.
  };
  return over_tls(call, problem);
}

ServerSocket::Wait ServerSocket::read_tls(const asio::mutable_buffer& buffer, ErrorCode& problem, std::size_t& size) {
  if (buffer.size() == 0) return Wait::kNothing;
  return over_tls([&] { return SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &size); }, problem);
}

ServerSocket::Wait ServerSocket::write_tls(const asio::const_buffer& buffer, ErrorCode& problem, std::size_t& size) {
  if (buffer.size() == 0) return Wait::kNothing;
  return over_tls([&] { return SSL_write_ex(ssl_.get(), buffer.data(), buffer.size(), &size); }, problem);
}

}  // namespace tpuslice::http
