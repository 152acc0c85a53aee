// Session: one accepted connection of the Server. Private to this folder; the implementation is Boost.Beast's.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/mutex.h"
#include "api/http/client/stream_pool.h"
#include "api/http/server/asio.h"
#include "api/http/server/server.h"

namespace tpuslice::http {

class Session {
 public:
  virtual ~Session() = default;
  virtual void start() = 0;
  /// Ends once what is being answered is answered; at once if nothing is. Streams are ended.
  virtual void drain() = 0;
  /// Ends now.
  virtual void abort() = 0;
};

/// The open sessions. Thread-safe.
class SessionRegistry {
 public:
  /// False if there are `limit` already.
  [[nodiscard]] bool add(const std::shared_ptr<Session>& session, std::size_t limit) TPUSLICE_EXCLUDES(mutex_);
  void remove(const Session* session) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<std::shared_ptr<Session>> all() const TPUSLICE_EXCLUDES(mutex_);
  /// Returns when all sessions have ended, or after `wait`.
  void wait_empty(Duration wait) TPUSLICE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  ConditionVariable removed_;
  std::unordered_map<const Session*, std::weak_ptr<Session>> sessions_ TPUSLICE_GUARDED_BY(mutex_);
};

/// What all sessions of a server share; it outlives them.
struct ServerCore {
  ServerCore(ServerOptions server_options, Handler request_handler)
      : options(std::move(server_options)), handler(std::move(request_handler)), streams(options.max_streams) {}

  const ServerOptions options;
  const Handler handler;
  SessionRegistry sessions;
  StreamPool streams;
  std::atomic<bool> stopping{false};
};

/// `tls` is null for plain HTTP.
[[nodiscard]] std::shared_ptr<Session> make_session(asio::ip::tcp::socket socket,
                                                    std::shared_ptr<asio::ssl::context> tls,
                                                    std::shared_ptr<ServerCore> core);

}  // namespace tpuslice::http
