// Connector: what it takes to connect to one server. Private to api/http.
#pragma once

#include <openssl/ssl.h>

#include <optional>
#include <string>

#include "api/http/client/network_transport.h"
#include "api/http/url.h"

namespace tpuslice::http {

/// Shared with the connecting threads.
struct Connector {
  TransportOptions options;  ///< Without `bearer`, `identity` and `read_ca`.
  BaseUrl server;
  std::optional<BaseUrl> proxy;
  std::string expected_host;  ///< In the certificate.
  std::optional<Identity> identity;
};

/// Verifies the server as the options say, and sends the client certificate. Errors: InvalidArgument.
Status configure_tls(SSL_CTX* context, const Connector& connector);

/// Sets keepalive, TCP_USER_TIMEOUT and TCP_NODELAY. Options that the system rejects are ignored.
void set_socket_options(int fd, const TransportOptions& options);

/// The error of a request that failed because the certificate of the server was refused. `what` begins its message.
[[nodiscard]] Error refused_certificate(std::string_view what, std::string_view why, const Connector& connector);

}  // namespace tpuslice::http
