// Server: every listening socket of the program (webhook, metrics, health, the simulator's API), over Boost.Beast.
//
// Unknown clients can connect, so connections, handlers and bytes are shared by IP address (arbitration.h).
// Of N addresses that all try to fill the server,
//
// - each keeps max_connections/N connections, and one that asks for fewer gets all; never fewer than one while there
//   are as many connections as addresses. With 512: three attackers leave an API server 128, sixteen leave it 30. Those
//   who sent a valid request or a certificate (Reply::trusts_client) keep half of all against those who did not;
// - each waits for at most one handler of each other before one of its own runs;
// - each gets a quarter of the bodies and replies that are larger than small_message. Where others have all of them,
//   those that have more lose what they read or write too slowly, a tenth of slow_transfer after it began; the smaller
//   ones are at most one per connection and wait for nothing.
//
// So memory is at most body_budget + reply_budget + threads x (the longest reply) + max_connections x (small_message +
// what OpenSSL and the kernel need), and a client with a small request is answered while others hold everything they
// can hold. OpenSSL needs 75 KiB at most; of a connection that has sent no byte nothing, of an idle one 15 KiB.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "api/http/tls/identity.h"
#include "api/http/transport.h"

namespace tpuslice::http {

/// The peer of the connection that a request came on.
struct Peer {
  std::string address;           ///< "127.0.0.1:51034"
  bool has_certificate = false;  ///< One that ServerOptions::client_ca verifies.
  std::string common_name;       ///< Common name of the certificate; empty without one.
  std::vector<std::string> organizations;
};

/// A reply: a whole body, or a stream that is sent chunk by chunk until it ends or the client leaves.
struct Reply {
  Response response;
  std::unique_ptr<Stream> stream;  ///< When set, `response.body` is not used; status and headers come from `response`.
  /// The request is one that only the intended clients of this server send: the address keeps its connections.
  bool trusts_client = false;
};

/// Called on the server's threads, several at a time; a handler that throws is answered with 500.
using Handler = std::function<Reply(const Request& request, const Peer& peer)>;

struct ServerOptions {
  std::string address = "127.0.0.1:0";  ///< "host:port"; port 0 picks a free one; "[::]:8443" is dual-stack.
  std::optional<Identity> tls = {};     ///< Plain HTTP without.
  std::string client_ca = {};           ///< PEM; when set, client certificates are verified (but optional).
  int threads = 2;  ///< Run handlers. One more reads and writes meanwhile, and each open stream has one of its own.
  std::size_t header_limit = 16U << 10U;  ///< Bytes; more closes the connection.
  std::size_t body_limit = 8U << 20U;     ///< Bytes; more is answered with 413.
  /// Bytes of all bodies that are read or handled at a time, a quarter of it for each IP address; more wait.
  std::size_t body_budget = 64U << 20U;
  /// Maximum bytes of all replies that clients have not read. Requests wait for their handler until there are fewer.
  std::size_t reply_budget = 64U << 20U;
  /// Bodies and replies of at most so many bytes are in neither.
  std::size_t small_message = 64U << 10U;
  /// Bytes that the kernel buffers in each direction of a connection; 0: as many as it wants, up to megabytes.
  int socket_buffer = 0;
  /// When there are this many, one of the address that has the most is closed for a new one.
  int max_connections = 1000;
  int max_connections_per_peer = 1000;  ///< Maximum of one IP address.
  int max_streams = 256;                ///< More are answered with 429.
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration read_timeout = std::chrono::seconds(30);
  /// While other requests wait for bytes, a body or a reply that takes longer than this is dropped, as in FairBudget.
  Duration slow_transfer = std::chrono::seconds(1);
  /// A request that waits longer for bytes, or for its handler, is answered with 503.
  Duration wait_timeout = std::chrono::seconds(10);
  Duration idle_timeout = std::chrono::seconds(120);  ///< Longer than the 90 s of Go's clients, which close first.
  Duration write_timeout = std::chrono::seconds(60);  ///< For one reply, or one chunk of a stream.
  Duration drain = std::chrono::seconds(3);           ///< How long stop() waits for requests that are being answered.
};

/// Listens from start() to stop(). Thread-safe.
class Server {
 public:
  /// `clock` outlives the server. It measures how long requests wait, and how slow or unused connections are; the
  /// time-outs of what is read and written are timers of the sockets. The process ignores SIGPIPE from here on. Errors:
  /// Unavailable if the address cannot be bound; InvalidArgument for a bad address, certificate or key.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, const Clock& clock, Handler handler);
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
