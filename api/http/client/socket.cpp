#include "api/http/client/socket.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <boost/asio/error.hpp>

namespace tpuslice::http {
namespace {

namespace errc = boost::system::errc;

constexpr std::int64_t kMaxPoll = 60'000;  ///< Milliseconds.
constexpr std::size_t kMaxWriteSize = 1U << 20U;

/// ETIMEDOUT of the system is a connection that was lost: keepalive or TCP_USER_TIMEOUT ended it.
Socket::ErrorCode system_error(int number) {
  return {number == ETIMEDOUT ? ECONNABORTED : number, boost::system::system_category()};
}
Socket::ErrorCode timed_out() { return errc::make_error_code(errc::timed_out); }

}  // namespace

Socket::~Socket() {
  if (drops_unsent_ && fd_ >= 0) {
    const linger reset{1, 0};  // close() sends a TCP reset.
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  } else if (tls_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());  // Sends close_notify without waiting for the answer.
    ERR_clear_error();
  }
  tls_.reset();
  if (fd_ >= 0) ::close(fd_);
}

void Socket::set_limits(Instant until, Duration idle, bool polls) {
  until_ = until;
  idle_ = idle;
  polls_ = polls;
}

Socket::ErrorCode Socket::connect(const Address& address) {
  const int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error(errno);
  {
    const MutexLock lock(mutex_);
    fd_ = fd;
    if (interrupted_) return errc::make_error_code(errc::operation_canceled);
  }
  const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);  // NOLINT: as the system wants it
  if (::connect(fd_, target, address.size) == 0) return {};
  if (errno != EINPROGRESS) return system_error(errno);
  if (const ErrorCode late = wait(POLLOUT)) return late;
  int problem = 0;
  socklen_t size = sizeof problem;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &problem, &size);
  return system_error(problem);
}

void Socket::interrupt() {
  const MutexLock lock(mutex_);
  interrupted_ = true;
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

bool Socket::readable() const {
  pollfd waiting{fd_, POLLIN, 0};
  return (tls_ && SSL_has_pending(tls_.get()) == 1) || ::poll(&waiting, 1, 0) != 0;
}

Socket::ErrorCode Socket::wait(short events) const {
  const Instant begun = clock_.now();
  const Instant until = idle_ < until_ - begun ? begun + idle_ : until_;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.now()).count();
    if (left <= 0) return timed_out();
    pollfd waiting{fd_, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left, kMaxPoll)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error(errno);
  }
}

/// Repeats `operation` until OpenSSL needs no more network I/O for it.
template <typename Operation>
Socket::ErrorCode Socket::over_tls(Operation operation) {
  while (true) {
    if (expired()) return timed_out();
    ERR_clear_error();
    errno = 0;
    const int result = operation();
    if (result > 0) return {};
    const int system = errno;
    switch (SSL_get_error(tls_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        if (const ErrorCode late = wait(POLLIN)) return late;
        continue;
      case SSL_ERROR_WANT_WRITE:
        if (const ErrorCode late = wait(POLLOUT)) return late;
        continue;
      case SSL_ERROR_ZERO_RETURN:
        return boost::asio::error::eof;
      case SSL_ERROR_SYSCALL:
        return system_error(system != 0 ? system : ECONNRESET);
      default:
        tls_problem_ = openssl_error();
        return system_error(ECONNRESET);
    }
  }
}

Socket::ErrorCode Socket::start_tls(SSL_CTX* context, const std::string& server_name) {
  tls_.reset(SSL_new(context));
  if (!tls_ || SSL_set_fd(tls_.get(), fd_) != 1) return system_error(ENOMEM);
  if (!server_name.empty()) SSL_set_tlsext_host_name(tls_.get(), server_name.c_str());
  return over_tls([this] { return SSL_connect(tls_.get()); });
}

std::string Socket::refused_certificate() const {
  if (!tls_ || SSL_get_verify_mode(tls_.get()) == SSL_VERIFY_NONE) return {};
  const std::int64_t result = SSL_get_verify_result(tls_.get());
  return result == X509_V_OK ? std::string() : X509_verify_cert_error_string(result);
}

std::size_t Socket::read(char* data, std::size_t size, ErrorCode& problem) {
  std::size_t done = 0;
  if (tls_) {
    problem = over_tls([&] { return SSL_read_ex(tls_.get(), data, size, &done); });
    return problem ? 0 : done;
  }
  while (true) {
    if (expired()) {
      problem = timed_out();
      return 0;
    }
    const ssize_t got = ::recv(fd_, data, size, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    problem = got == 0 ? ErrorCode(boost::asio::error::eof) : ErrorCode();
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      problem = wait(POLLIN);
    else if (got < 0 && errno != EINTR)
      problem = system_error(errno);
    if (problem) return 0;
  }
}

std::size_t Socket::write(const char* data, std::size_t size, ErrorCode& problem) {
  size = std::min(size, kMaxWriteSize);
  std::size_t done = 0;
  if (tls_) {
    problem = over_tls([&] { return SSL_write_ex(tls_.get(), data, size, &done); });
    return problem ? 0 : done;
  }
  while (true) {
    if (expired()) {
      problem = timed_out();
      return 0;
    }
    const ssize_t put = ::send(fd_, data, size, MSG_NOSIGNAL);
    if (put >= 0) return static_cast<std::size_t>(put);
    problem = {};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      problem = wait(POLLOUT);
    else if (errno != EINTR)
      problem = system_error(errno);
    if (problem) return 0;
  }
}

}  // namespace tpuslice::http
