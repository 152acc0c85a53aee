// Support of the tests of api/http: certificates, servers, raw sockets, gates.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "api/http/client/network_transport.h"
#include "api/http/server/server.h"
#include "api/http/tls/tls_credentials.h"
#include "tests/support/feed.h"

namespace tpuslice::http::testing {

/// Long enough for a slow machine; a test that passes never waits for it.
inline constexpr Duration kGenerous = std::chrono::seconds(20);

/// Opens once. Waits are limited, so that a broken test fails instead of hanging.
class Gate {
 public:
  void open();
  bool wait(Duration bound = kGenerous);
  /// Until open or stop is requested.
  void wait(std::stop_token stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ = false;
};

/// An authority and a certificate for localhost and 127.0.0.1, created once per program.
struct Pki {
  Identity authority;
  Identity server;
};
const Pki& pki();
Validity valid_now();
Validity expired();
Identity issue(const CertificateRequest& request, const Validity& validity = valid_now());
/// An authority whose certificate the one above has signed.
Identity intermediate_authority();

/// The clock of servers, unless a test has its own.
inline const RealClock kRealClock;

/// Plain, or with TLS and the certificate above.
ServerOptions plain_options();
ServerOptions tls_options();
std::unique_ptr<Server> start(ServerOptions options, Handler handler, const Clock& clock = kRealClock);
Reply text_reply(int status, std::string body);
/// A handler: 200 with the body "fine".
Reply ok(const Request& request, const Peer& peer);
/// With TLS; answers every request with `status` and counts them.
std::unique_ptr<Server> start_counting(std::atomic<int>& requests, int status);
/// With TLS; opens `entered` for a request, and answers it when `release` is open. Both outlive it.
std::unique_ptr<Server> start_gated(Gate& entered, Gate& release);

/// For `https://127.0.0.1:port` with the authority above.
TransportOptions transport_options(const Server& server);
std::unique_ptr<Transport> connect(TransportOptions options);

/// The transports that the tests of Transport run over: each program of tests links one (network_under_test.cpp,
/// rest_under_test.cpp).
Result<std::unique_ptr<Transport>> make_transport_under_test(TransportOptions options);
Request get(std::string target);

std::string gzip(std::string_view text);
/// Open descriptors of this process.
int open_descriptors();

/// A TCP connection to 127.0.0.1 whose reads time out after kGenerous.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False if the peer has closed the connection.
  bool send(std::string_view bytes);
  /// Reads until the peer closes the connection or `needle` was read.
  std::string read_until(std::string_view needle);
  std::string read_all() { return read_until({}); }
  /// Closes the connection with a TCP reset.
  void reset();
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  std::string seen_;
};

/// Accepts connections one at a time and runs `script` as the server of each. `script` does not close the socket.
class RawServer {
 public:
  using Script = std::function<void(int fd, int connection)>;
  /// `receive_buffer`: bytes that the kernel takes before `script` reads them; 0: as many as it wants.
  explicit RawServer(Script script, int receive_buffer = 0);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

  static std::string read_head(int fd);
  static void write(int fd, std::string_view bytes);

 private:
  int listener_ = -1;
  int port_ = 0;
  Script script_;
  std::jthread thread_;
};

/// Forwards bytes between `fd` and `port` of 127.0.0.1 until either side closes.
void relay(int fd, int port);

/// A reply that streams what the test puts into `feed`.
Reply stream_reply(std::shared_ptr<tpuslice::testing::Feed> feed);

}  // namespace tpuslice::http::testing
