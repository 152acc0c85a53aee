// Calls: the connections that requests go over, kept for the next; a stream keeps its own. Private to api/http.
#pragma once

#include <memory>
#include <vector>

#include "api/base/mutex.h"
#include "api/http/client/connection.h"

namespace tpuslice::http {

/// The calls to one server with one client certificate. Thread-safe.
class Calls {
 public:
  virtual ~Calls() = default;
  /// Errors: as Transport::call. On a kept connection that the server closed before it answered, a GET, or a request
  /// that was not sent completely, is sent once more.
  virtual Result<Response> call(const Call& call) = 0;
  /// Errors: as Transport::open.
  virtual Result<std::unique_ptr<Stream>> open(const Call& call) = 0;
};

/// Makes the calls of a transport. Errors: InvalidArgument for certificates and keys that cannot be used.
using MakeCalls = Result<std::unique_ptr<Calls>> (*)(const std::shared_ptr<Connector>& connector);

/// make_network_transport() with other calls.
[[nodiscard]] Result<std::unique_ptr<Transport>> make_transport_with(TransportOptions options, MakeCalls make);

/// Calls over connections of this folder (connection.h).
class OwnCalls final : public Calls {
 public:
  /// Errors: as MakeCalls.
  static Result<std::unique_ptr<Calls>> make(const std::shared_ptr<Connector>& connector);

  Result<Response> call(const Call& call) override TPUSLICE_EXCLUDES(mutex_);
  Result<std::unique_ptr<Stream>> open(const Call& call) override TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Kept {
    std::unique_ptr<Connection> connection;
    Instant since;
  };
  using ContextPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;

  OwnCalls(std::shared_ptr<Connector> connector, ContextPtr context)
      : connector_(std::move(connector)), context_(std::move(context)) {}
  /// Connects if there is no connection yet, and asks whether the call may still be sent.
  Status prepare(std::unique_ptr<Connection>& connection, const Call& call) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::unique_ptr<Connection> take() TPUSLICE_EXCLUDES(mutex_);
  void keep(std::unique_ptr<Connection> connection) TPUSLICE_EXCLUDES(mutex_);

  const std::shared_ptr<Connector> connector_;
  const ContextPtr context_;  ///< Null for plain HTTP.
  const RealClock clock_;
  Mutex mutex_;
  std::vector<Kept> kept_ TPUSLICE_GUARDED_BY(mutex_);  ///< The last one was used last.
};

}  // namespace tpuslice::http
