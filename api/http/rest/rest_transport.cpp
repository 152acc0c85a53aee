#include "api/http/rest/rest_transport.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "api/base/mutex.h"
#include "api/http/client/calls.h"
#include "api/http/client/resolver.h"
#include "api/http/rest/rest_connection.h"

namespace tpuslice::http {
namespace {

constexpr Duration kMaxKept = std::chrono::seconds(30);  ///< cpprestsdk closes connections after this.

/// The text of an IPv4 address; empty for others.
std::string ipv4_text(const Address& address) {
  if (address.storage.ss_family != AF_INET) return {};
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, &address.storage, sizeof ipv4);
  std::array<char, INET_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size()) != nullptr ? text.data() : std::string();
}

constexpr int kFirstFinalStatus = 200;

class RestCalls final : public Calls {
 public:
  static Result<std::unique_ptr<Calls>> make(const std::shared_ptr<Connector>& connector) {
    ASSIGN_OR_RETURN(std::unique_ptr<Calls> own, OwnCalls::make(connector));
    return std::unique_ptr<Calls>(new RestCalls(connector, std::move(own)));
  }

  Result<Response> call(const Call& call) override TPUSLICE_EXCLUDES(mutex_) {
    if (connector_->proxy || is_ipv6(connector_->server.host)) return own_->call(call);
    if (call.stop.stop_requested()) return cancelled(call);
    if (call.may_send && !call.may_send()) {
      return Error::of(ErrorCode::kCancelled, "{}: it may no longer be sent", call.what);
    }
    Result<Response> response = call_with_cpprestsdk(call);
    if (!response || response->status >= kFirstFinalStatus) return response;
    // It takes an interim answer for the final one.
    if (call.method == "GET") return own_->call(call);
    return Error::unavailable("{}: the server sent an interim answer, status {}", call.what, response->status);
  }

  Result<std::unique_ptr<Stream>> open(const Call& call) override { return own_->open(call); }

 private:
  struct Kept {
    std::unique_ptr<RestConnection> connection;
    Instant since;
  };

  RestCalls(std::shared_ptr<Connector> connector, std::unique_ptr<Calls> own)
      : connector_(std::move(connector)), own_(std::move(own)) {}

  Result<Response> call_with_cpprestsdk(const Call& call) TPUSLICE_EXCLUDES(mutex_) {
    std::unique_ptr<RestConnection> kept = take(call.method == "GET");
    if (!kept) return call_over_new_connection(call);
    bool unreachable = false;
    Result<Response> response = kept->exchange(call, unreachable);
    keep(std::move(kept), response);
    return response;
  }

  Result<Response> call_over_new_connection(const Call& call) TPUSLICE_EXCLUDES(mutex_) {
    const auto addresses = resolve(connector_->server.host, connector_->server.port, call.until, call.stop);
    if (!addresses) return addresses.error().within(call.what);
    for (const Address& address : *addresses) {
      const std::string text = ipv4_text(address);
      if (text.empty()) continue;
      auto connection = std::make_unique<RestConnection>(connector_, text);
      bool unreachable = false;
      Result<Response> response = connection->exchange(call, unreachable);
      keep(std::move(connection), response);
      if (response || !unreachable || &address == &addresses->back()) return response;
    }
    return own_->call(call);  // The server has IPv6 addresses only, or they are behind the others.
  }

  /// A connection that is kept. cpprestsdk repeats any request on a kept one that the server has closed, though the
  /// server may have acted on it: so what is not a GET gets a new one, and the kept ones are closed.
  std::unique_ptr<RestConnection> take(bool may_repeat) TPUSLICE_EXCLUDES(mutex_) {
    std::vector<Kept> closed;  // Closed outside of the lock.
    const MutexLock lock(mutex_);
    if (!may_repeat) {
      closed.swap(kept_);
      return nullptr;
    }
    if (kept_.empty()) return nullptr;
    Kept last = std::move(kept_.back());
    kept_.pop_back();
    if (clock_.now() - last.since <= kMaxKept) return std::move(last.connection);
    closed.swap(kept_);  // The others are older.
    return nullptr;
  }

  /// Keeps the connection if it can be used again.
  void keep(std::unique_ptr<RestConnection> connection, const Result<Response>& response) TPUSLICE_EXCLUDES(mutex_) {
    if (!response || response->status < kFirstFinalStatus) return;
    const MutexLock lock(mutex_);
    kept_.push_back({std::move(connection), clock_.now()});
  }

  const std::shared_ptr<Connector> connector_;
  const std::unique_ptr<Calls> own_;
  const RealClock clock_;
  Mutex mutex_;
  std::vector<Kept> kept_ TPUSLICE_GUARDED_BY(mutex_);  ///< The last one was used last.
};

}  // namespace

Result<std::unique_ptr<Transport>> make_rest_transport(TransportOptions options) {
  options.max_response = std::min(options.max_response, kMaxRestResponse);
  return make_transport_with(std::move(options), RestCalls::make);
}

}  // namespace tpuslice::http
