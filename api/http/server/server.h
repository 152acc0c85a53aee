// Server: every listening socket of the program (webhook, metrics, health, the simulator's API), over Boost.Beast.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/http/tls/identity.h"
#include "api/http/transport.h"

namespace tpuslice::http {

/// The peer of the connection that a request came on.
struct Peer {
  std::string address;           ///< "127.0.0.1:51034"
  bool has_certificate = false;  ///< One that ServerOptions::client_ca verifies.
  std::string common_name;       ///< Of the certificate; empty without one.
  std::vector<std::string> organizations;
};

/// A reply: a whole body, or a stream that is sent chunk by chunk until it ends or the client leaves.
struct Reply {
  Response response;
  std::unique_ptr<Stream> stream;  ///< When set, `response.body` is not used; status and headers come from `response`.
};

/// Called on the server's threads, several at a time; a handler that throws is answered with 500.
using Handler = std::function<Reply(const Request& request, const Peer& peer)>;

struct ServerOptions {
  std::string address = "127.0.0.1:0";  ///< "host:port"; port 0 picks a free one; "[::]:8443" is dual-stack.
  std::optional<Identity> tls = {};     ///< Plain HTTP without.
  std::string client_ca = {};           ///< PEM; when set, client certificates are verified (but optional).
  int threads = 2;                      ///< Read, run the handler and write. Each open stream has one more of its own.
  std::size_t header_limit = 16U << 10U;  ///< Bytes; more closes the connection.
  std::size_t body_limit = 8U << 20U;     ///< Bytes; more is answered with 413.
  /// Bytes of all bodies that are read or handled at a time, a quarter of it for each IP address; more wait.
  std::size_t body_budget = 64U << 20U;
  /// When there are this many, the connection that is idle for the longest time is closed for a new one.
  int max_connections = 1000;
  int max_connections_per_peer = 1000;  ///< Likewise, of one IP address.
  int max_streams = 256;                ///< More are answered with 429.
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration read_timeout = std::chrono::seconds(30);
  /// While other requests wait for room in `body_budget`, a body that takes longer than this is dropped.
  Duration slow_body = std::chrono::seconds(1);
  Duration idle_timeout = std::chrono::seconds(90);
  Duration write_timeout = std::chrono::seconds(60);  ///< For one reply, or one chunk of a stream.
  Duration drain = std::chrono::seconds(3);           ///< How long stop() waits for requests that are being answered.
};

/// Listens from start() to stop(). Thread-safe.
class Server {
 public:
  /// Errors: Unavailable if the address cannot be bound; InvalidArgument for a bad address, certificate or key.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  virtual ~Server() = default;  ///< Stops.

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Serves new connections with `identity` and verifies their client certificates with `client_ca`, as in
  /// ServerOptions; open connections keep theirs. Errors: InvalidArgument, and nothing changes.
  virtual Status set_tls(const Identity& identity, const std::string& client_ca) = 0;
  /// From now on each reply closes its connection, so that clients connect to another server. New connections are
  /// accepted until stop().
  virtual void stop_keep_alive() = 0;
  /// No new connection; requests under way are answered within `drain`; streams are ended.
  virtual void stop() = 0;
};

}  // namespace tpuslice::http
