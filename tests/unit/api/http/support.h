// What the tests of api/http share: certificates, a server that echoes, raw sockets, and gates to wait at.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "api/http/network_transport.h"
#include "api/http/server.h"
#include "api/http/tls_credentials.h"

namespace tpuslice::http::testing {

/// Long enough for a slow machine; a test that passes never waits for it.
inline constexpr Duration kGenerous = std::chrono::seconds(20);

/// Opens once. Waiting has a bound, so that a broken test fails instead of hanging.
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

/// An authority and a certificate for localhost and 127.0.0.1, made once per program.
struct Pki {
  Identity authority;
  Identity server;
};
const Pki& pki();
Validity valid_now();
Validity expired();
Identity issue(const CertificateRequest& request, const Validity& validity = valid_now());

/// Plain, or with TLS and the certificate above.
ServerOptions plain_options();
ServerOptions tls_options();
std::unique_ptr<Server> start(ServerOptions options, Handler handler);
Reply text_reply(int status, std::string body);
/// With TLS; answers every request with `status` and counts them.
std::unique_ptr<Server> start_counting(std::atomic<int>& requests, int status);

/// For `https://127.0.0.1:port`, trusting the authority above.
TransportOptions transport_options(const Server& server);
std::unique_ptr<Transport> connect(TransportOptions options);
Request get(std::string target);

std::string gzip(std::string_view text);
/// Open descriptors of this process.
int open_descriptors();

/// A TCP connection to 127.0.0.1 whose reads give up after kGenerous.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False once the other side has closed.
  bool send(std::string_view bytes);
  /// Until the other side closes, or `needle` was seen.
  std::string read_until(std::string_view needle);
  std::string read_all() { return read_until({}); }
  /// Closes with a reset instead of a goodbye.
  void reset();

 private:
  int fd_ = -1;
  std::string seen_;
};

/// Accepts connections and lets `script` play the server on each, one after the other. `script` does not close.
class RawServer {
 public:
  using Script = std::function<void(int fd, int connection)>;
  explicit RawServer(Script script);
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

/// Carries bytes between `fd` and what listens on `port` of 127.0.0.1, until either closes.
void relay(int fd, int port);

/// Hands out what the test puts in, until it is ended or stopped.
class FedStream final : public Stream {
 public:
  struct Feed {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::string bytes;
    bool ended = false;
    bool broken = false;
    Gate stopped;   ///< Opens when a read was told to stop.
    Gate released;  ///< Opens when the stream is destroyed.
    void put(std::string_view more);
    void end();
    void fail();
  };
  explicit FedStream(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  ~FedStream() override { feed_->released.open(); }
  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const Headers& headers() const override { return headers_; }
  Result<std::string> read(Duration wait, std::stop_token stop) override;

 private:
  const std::shared_ptr<Feed> feed_;
  const Headers headers_;
};
Reply stream_reply(std::shared_ptr<FedStream::Feed> feed);

}  // namespace tpuslice::http::testing
