// Socket: a TCP connection, with TLS or without, that one thread uses and every wait of which ends. Private to this
// folder.
//
// Boost.Asio's blocking operations have no deadline, and its timers would need a second thread for every request.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/system/system_error.hpp>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/http/client/resolver.h"
#include "api/http/tls/openssl.h"

namespace tpuslice::http {

using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// A SyncStream of Boost.Beast. Errors of its operations: timed_out at the end of a wait, eof where the other side has
/// ended the connection properly, and those of the system.
class Socket {
 public:
  using ErrorCode = boost::system::error_code;

  /// Not connected yet.
  Socket() = default;
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// Limits all later operations: no wait lasts beyond `until` or longer than `idle`. After `until` they time out, even
  /// if bytes are available; with `polls`, available bytes are still read.
  void set_limits(Instant until, Duration idle, bool polls = false);

  ErrorCode connect(const Address& address);
  /// `server_name` is sent as SNI; empty: none.
  ErrorCode start_tls(SSL_CTX* context, const std::string& server_name);

  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers, ErrorCode& problem) {
    for (auto each = boost::asio::buffer_sequence_begin(buffers); each != boost::asio::buffer_sequence_end(buffers);
         ++each) {
      const boost::asio::mutable_buffer buffer(*each);
      if (buffer.size() > 0) return read(static_cast<char*>(buffer.data()), buffer.size(), problem);
    }
    return 0;
  }
  template <typename Buffers>
  std::size_t read_some(const Buffers& buffers) {
    return or_throw([&](ErrorCode& problem) { return read_some(buffers, problem); });
  }
  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers, ErrorCode& problem) {
    for (auto each = boost::asio::buffer_sequence_begin(buffers); each != boost::asio::buffer_sequence_end(buffers);
         ++each) {
      const boost::asio::const_buffer buffer(*each);
      if (buffer.size() > 0) return write(static_cast<const char*>(buffer.data()), buffer.size(), problem);
    }
    return 0;
  }
  template <typename Buffers>
  std::size_t write_some(const Buffers& buffers) {
    return or_throw([&](ErrorCode& problem) { return write_some(buffers, problem); });
  }

  /// Makes the current and all later operations fail. May be called from any thread until the socket is destroyed.
  void interrupt() TPUSLICE_EXCLUDES(mutex_);
  /// When the socket is destroyed, bytes that the other side has not acknowledged are dropped. Otherwise the system
  /// delivers them after the connection is closed, also seconds later, when a broken network works again.
  void drop_unsent() { drops_unsent_ = true; }
  /// Whether a read would return at once. On an idle connection this means that the server has closed it.
  [[nodiscard]] bool readable() const;
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Why start_tls() refused the certificate of the server; empty if it did not.
  [[nodiscard]] std::string refused_certificate() const;
  /// The last TLS error; empty without one.
  [[nodiscard]] const std::string& tls_problem() const { return tls_problem_; }

 private:
  std::size_t read(char* data, std::size_t size, ErrorCode& problem);
  std::size_t write(const char* data, std::size_t size, ErrorCode& problem);
  [[nodiscard]] ErrorCode wait(short events) const;
  [[nodiscard]] bool expired() const { return !polls_ && clock_.now() >= until_; }
  template <typename Operation>
  ErrorCode over_tls(Operation operation);
  template <typename Operation>
  static std::size_t or_throw(Operation operation) {
    ErrorCode problem;
    const std::size_t size = operation(problem);
    if (problem) throw boost::system::system_error(problem);
    return size;
  }

  const RealClock clock_{};
  Instant until_ = Instant::max();
  Duration idle_ = Duration::max();
  bool polls_ = false;
  bool drops_unsent_ = false;
  SslPtr tls_;
  std::string tls_problem_;
  int fd_ = -1;  ///< Set once, under the lock.
  Mutex mutex_;
  bool interrupted_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

}  // namespace tpuslice::http
