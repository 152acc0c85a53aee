// Session: one accepted connection of the Server. Private to this folder; the implementation is Boost.Beast's.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "api/http/server/asio.h"
#include "api/http/server/fair_budget.h"
#include "api/http/server/server.h"
#include "api/http/server/session_registry.h"
#include "api/http/server/stream_pool.h"

namespace tpuslice::http {

/// What all sessions of a server share; it outlives them.
struct ServerCore {
  ServerCore(ServerOptions server_options, const Clock& server_clock, Handler request_handler)
      : options(std::move(server_options)),
        clock(server_clock),
        handler(std::move(request_handler)),
        bodies({.bytes = options.body_budget, .slow = options.slow_transfer}),
        replies({.bytes = options.reply_budget,
                 .handlers = static_cast<std::size_t>(options.threads),
                 .slow = options.slow_transfer}),
        streams(options.max_streams) {}

  const ServerOptions options;
  const Clock& clock;
  const Handler handler;
  SessionRegistry sessions;
  FairBudget bodies;
  FairBudget replies;
  StreamPool streams;
  std::atomic<bool> keep_alive{true};
  std::atomic<bool> stopping{false};
};

/// `tls` is null for plain HTTP. `host` is the address of the peer.
[[nodiscard]] std::shared_ptr<Session> make_session(asio::ip::tcp::socket socket, std::string host, std::uint16_t port,
                                                    std::shared_ptr<asio::ssl::context> tls,
                                                    std::shared_ptr<ServerCore> core);

}  // namespace tpuslice::http
