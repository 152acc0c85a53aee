#include "api/http/client/calls.h"

#include <utility>

#include "api/http/client/response_stream.h"

namespace tpuslice::http {
namespace {

constexpr Duration kMaxIdle = std::chrono::seconds(60);
/// Connections are replaced after this time, so that they spread over all API servers again after one has restarted.
constexpr Duration kMaxAge = std::chrono::minutes(10);

}  // namespace

Result<std::unique_ptr<Calls>> OwnCalls::make(const std::shared_ptr<Connector>& connector) {
  ContextPtr context;
  if (connector->server.tls()) {
    context.reset(SSL_CTX_new(TLS_client_method()));
    if (!context) return Error::unavailable("no TLS: {}", openssl_error());
    SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    if (!connector->options.insecure_skip_verify) SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    RETURN_IF_ERROR(configure_tls(context.get(), *connector));
  }
  return std::unique_ptr<Calls>(new OwnCalls(connector, std::move(context)));
}

Status OwnCalls::prepare(std::unique_ptr<Connection>& connection, const Call& call) {
  if (!connection) {
    ASSIGN_OR_RETURN(connection, Connection::open(*connector_, context_.get(), call));
  }
  if (!call.may_send || call.may_send()) return {};
  keep(std::move(connection));
  return Error::of(ErrorCode::kCancelled, "{}: it may no longer be sent", call.what);
}

Result<Response> OwnCalls::call(const Call& call) {
  for (std::unique_ptr<Connection> connection = take();; connection = nullptr) {
    const bool kept = connection != nullptr;
    RETURN_IF_ERROR(prepare(connection, call));
    Response response;
    const std::optional<Failure> failure = connection->exchange(call, response);
    if (!failure) {
      if (connection->kept()) keep(std::move(connection));
      return response;
    }
    if (!kept || !may_repeat(*failure, call.method)) return failure->error;
  }
}

Result<std::unique_ptr<Stream>> OwnCalls::open(const Call& call) {
  for (std::unique_ptr<Connection> connection = take();; connection = nullptr) {
    const bool kept = connection != nullptr;
    RETURN_IF_ERROR(prepare(connection, call));
    auto stream = std::make_unique<ResponseStream>(connector_, std::move(connection), call.what);
    const std::optional<Failure> failure = stream->send(call);
    if (!failure) return std::unique_ptr<Stream>(std::move(stream));
    if (!kept || !may_repeat(*failure, call.method)) return failure->error;
  }
}

std::unique_ptr<Connection> OwnCalls::take() {
  while (true) {
    Kept found;
    {
      const MutexLock lock(mutex_);
      if (kept_.empty()) return nullptr;
      found = std::move(kept_.back());
      kept_.pop_back();
    }
    const Instant now = clock_.now();
    const bool old = now - found.since > kMaxIdle || now - found.connection->opened() > kMaxAge;
    if (!old && !found.connection->stale()) return std::move(found.connection);
  }
}

void OwnCalls::keep(std::unique_ptr<Connection> connection) {
  const Instant now = clock_.now();
  std::vector<Kept> old;  // Closed outside of the lock.
  const MutexLock lock(mutex_);
  while (!kept_.empty() && now - kept_.front().since > kMaxIdle) {
    old.push_back(std::move(kept_.front()));
    kept_.erase(kept_.begin());
  }
  kept_.push_back({std::move(connection), now});
}

}  // namespace tpuslice::http
