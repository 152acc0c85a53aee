#include "api/http/server/server.h"

#include <netinet/tcp.h>

#include <csignal>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/base/pause.h"
#include "api/base/strings.h"
#include "api/http/server/asio.h"
#include "api/http/server/server_socket.h"
#include "api/http/server/session.h"
#include "api/http/tls/tls_context.h"

namespace tpuslice::http {
namespace {

using Tcp = asio::ip::tcp;

/// Pause after an accept failed because no descriptor or memory was free.
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);
/// Suites of TLS 1.2: forward secrecy and authenticated encryption. Those of TLS 1.3 all are.
constexpr const char* kTls12Ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
/// Time-out for connections to close after stop.
constexpr Duration kAbort = std::chrono::seconds(2);

Result<Tcp::endpoint> parse_endpoint(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) return Error::invalid_argument("address \"{}\": expected host:port", address);
  std::string host = address.substr(0, colon);
  const std::string port_text = address.substr(colon + 1);
  const auto port = parse_integer<std::uint16_t>(port_text);
  if (!port) {
    return Error::invalid_argument("address \"{}\": \"{}\" is not a port", address, port_text);
  }
  if (host.empty()) host = "::";  // ":8443" means every address, as in Go.
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  boost::system::error_code bad;
  const auto parsed = asio::ip::make_address(host, bad);
  if (bad) return Error::invalid_argument("address \"{}\": \"{}\" is not an IP address", address, host);
  return Tcp::endpoint(parsed, *port);
}

Result<std::shared_ptr<asio::ssl::context>> make_tls(const Identity& identity, const std::string& client_ca) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* native = context->native_handle();
  RETURN_IF_ERROR(require_modern_tls(native));
  configure_server_sockets(native);
  if (SSL_CTX_set_cipher_list(native, kTls12Ciphers) != 1)
    return Error::unavailable("TLS has none of {}", kTls12Ciphers);
  RETURN_IF_ERROR(use_identity(native, identity));
  if (!client_ca.empty()) {
    if (Status asked = ask_for_client_certificate(native, client_ca); !asked) return asked.error().within("client CA");
  }
  return context;
}

/// What connections and bytes are shared by. A client of a dual-stack listener has its IPv4 address.
std::string host_of(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

/// Options of the listener that its connections inherit.
void limit_connections(Tcp::acceptor& acceptor, const ServerOptions& options) {
  if (options.socket_buffer > 0) {
    acceptor.set_option(asio::socket_base::receive_buffer_size(options.socket_buffer));
    acceptor.set_option(asio::socket_base::send_buffer_size(options.socket_buffer));
  }
  // This also holds after the connection was closed: the kernel drops what the client does not read.
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.write_timeout).count();
  using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  acceptor.set_option(UserTimeout(static_cast<int>(timeout)));
}

class BeastServer final : public Server {
 public:
  BeastServer(ServerOptions options, const Clock& clock, Handler handler, std::shared_ptr<asio::ssl::context> tls)
      : core_(std::make_shared<ServerCore>(std::move(options), clock, std::move(handler))),
        tls_(std::move(tls)),
        work_(io_.get_executor()),
        strand_(asio::make_strand(io_)),
        acceptor_(strand_),
        pause_(strand_) {}
  ~BeastServer() override { stop(); }
  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;

  Status listen(const Tcp::endpoint& wanted) {
    try {
      Tcp::endpoint endpoint = wanted;
      try {
        acceptor_.open(endpoint.protocol());
      } catch (const boost::system::system_error&) {
        if (!endpoint.address().is_v6() || !endpoint.address().is_unspecified()) throw;
        endpoint = Tcp::endpoint(asio::ip::address_v4::any(), endpoint.port());  // A machine without IPv6.
        acceptor_.open(endpoint.protocol());
      }
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      if (endpoint.address().is_v6()) acceptor_.set_option(asio::ip::v6_only(false));
      limit_connections(acceptor_, core_->options);
      acceptor_.bind(endpoint);
      acceptor_.listen(asio::socket_base::max_listen_connections);
      acceptor_.non_blocking(true);
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& problem) {
      return Error::unavailable("cannot listen on {}: {}", core_->options.address, problem.code().message());
    }
    accept(AcceptLoop(this));
    // One more than handlers: requests of other addresses are read while all handlers run, and get the next turn.
    for (int i = 0; i <= core_->options.threads; ++i) threads_.emplace_back([this] { run(); });
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return port_; }

  Status set_tls(const Identity& identity, const std::string& client_ca) override {
    if (!core_->options.tls) return Error::invalid_argument("server on port {} speaks plain HTTP", port_);
    ASSIGN_OR_RETURN(std::shared_ptr<asio::ssl::context> context, make_tls(identity, client_ca));
    const MutexLock lock(mutex_);
    tls_ = std::move(context);
    return {};
  }

  void stop_keep_alive() override { core_->keep_alive = false; }

  void stop() override {
    if (core_->stopping.exchange(true)) return;
    asio::post(strand_, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
    for (const auto& each : core_->sessions.all()) each->drain();
    core_->sessions.wait_empty(core_->options.drain);
    for (const auto& each : core_->sessions.all()) each->abort();
    core_->sessions.wait_empty(kAbort);
    core_->streams.stop();
    io_.stop();
    for (std::thread& each : threads_) each.join();
    // io_.stop() may have come before the posted close: the port is free when this returns.
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  void run() {
    while (true) {
      try {
        io_.run();
        return;
      } catch (...) {  // An exception closes its connection; the others continue.
        continue;
      }
    }
  }

  /// Deleter of AcceptLoop. Asio destroys a pending handler, and the AcceptLoop in it, when it has no memory for the
  /// connection; the deleter then continues the accept loop.
  struct AcceptAgain {
    void operator()(BeastServer* server) const { server->accept_again(); }
  };
  using AcceptLoop = std::unique_ptr<BeastServer, AcceptAgain>;

  void accept(AcceptLoop self) {
    acceptor_.async_accept(asio::make_strand(io_), [this, self = std::move(self)](boost::system::error_code problem,
                                                                                  Tcp::socket socket) mutable {
      if (core_->stopping) return;
      problem || !try_admit(std::move(socket)) || !admit_others() ? accept_later(std::move(self))
                                                                  : accept(std::move(self));
    });
  }

  void accept_later(AcceptLoop self) {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this, self = std::move(self)](boost::system::error_code) mutable { accept(std::move(self)); });
  }

  /// Accepts connections again. May be called from any thread.
  void accept_again() {
    while (!core_->stopping) {
      try {
        return asio::post(strand_, [this] { accept_later(AcceptLoop(this)); });
      } catch (const std::exception&) {
        pause(kAcceptPause, {});
      }
    }
  }

  /// Accepts those that wait behind the first: a client behind thousands does not wait for their handshakes, only until
  /// they have closed one another. False if an accept failed.
  bool admit_others() {
    for (int i = 0; i < core_->options.max_connections; ++i) {
      Tcp::socket socket(asio::make_strand(io_));
      boost::system::error_code problem;
      acceptor_.accept(socket, problem);
      if (problem) return problem == asio::error::would_block || problem == asio::error::connection_aborted;
      if (!try_admit(std::move(socket))) return false;
    }
    return true;
  }

  /// False if there was no memory for the connection, which is closed.
  bool try_admit(Tcp::socket&& socket) {
    try {
      admit(std::move(socket));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void admit(Tcp::socket&& socket) {
    boost::system::error_code gone;
    const auto remote = socket.remote_endpoint(gone);
    if (gone) return;
    const std::string host = host_of(remote.address());
    const auto session = make_session(std::move(socket), host, remote.port(), tls(), core_);
    const SessionRegistry::Limits limits{static_cast<std::size_t>(core_->options.max_connections),
                                         static_cast<std::size_t>(core_->options.max_connections_per_peer)};
    // If no connection can be closed for it, the socket is closed at the end of the scope.
    if (!core_->sessions.add(session, host, limits, core_->clock.now())) return;
    session->start();
    if (core_->stopping) session->drain();  // stop() may have listed sessions before this was added.
  }

  std::shared_ptr<asio::ssl::context> tls() const {
    const MutexLock lock(mutex_);
    return tls_;
  }

  const std::shared_ptr<ServerCore> core_;
  mutable Mutex mutex_;
  std::shared_ptr<asio::ssl::context> tls_ TPUSLICE_GUARDED_BY(mutex_);
  asio::io_context io_;
  /// Keeps the threads of io_ running while no operation is pending, such as when a stream waits for its source.
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::strand<asio::io_context::executor_type> strand_;  ///< The strand of the acceptor and its timer.
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

Status check_options(const ServerOptions& options) {
  if (options.threads < 1) return Error::invalid_argument("server: threads is {}, must be at least 1", options.threads);
  if (options.max_streams < 0 || options.max_connections < 1) {
    return Error::invalid_argument("server: max_streams is {} and max_connections {}, must be at least 0 and 1",
                                   options.max_streams, options.max_connections);
  }
  if (options.header_limit < 256 || options.header_limit > (1U << 20U)) {
    return Error::invalid_argument("server: header_limit is {}, must be from 256 to 1048576", options.header_limit);
  }
  if (!options.client_ca.empty() && !options.tls) {
    return Error::invalid_argument("server: client_ca is set but tls is not");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, const Clock& clock, Handler handler) {
  RETURN_IF_ERROR(check_options(options));
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets without MSG_NOSIGNAL.
  ASSIGN_OR_RETURN(const Tcp::endpoint endpoint, parse_endpoint(options.address));
  std::shared_ptr<asio::ssl::context> tls;
  if (options.tls) {
    ASSIGN_OR_RETURN(tls, make_tls(*options.tls, options.client_ca));
  }
  auto server = std::make_unique<BeastServer>(std::move(options), clock, std::move(handler), std::move(tls));
  RETURN_IF_ERROR(server->listen(endpoint));
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace tpuslice::http
