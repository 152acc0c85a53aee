// self_call(): whether a server of this process answers, seen from outside: over TCP and TLS, on a new connection.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::webhook {

/// Answered by the webhook without a client certificate.
inline constexpr std::string_view kHealthPath = "/healthz";

struct SelfCall {
  std::string address;      ///< Address that the server listens on, as http::ServerOptions::address.
  std::uint16_t port = 0;   ///< Port that it was given.
  std::string authorities;  ///< PEM, with which the certificate is verified; empty: it is not.
  std::string server_name;  ///< Name that the certificate must have.
  Duration deadline = std::chrono::seconds(2);
};

/// GET of kHealthPath. Errors: those of http::Transport; Unavailable for another status than 200.
[[nodiscard]] Status self_call(const SelfCall& call, const std::stop_token& stop);

}  // namespace tpuslice::webhook
