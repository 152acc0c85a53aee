// Connector: what it takes to connect to one server. Private to this folder.
#pragma once

#include <openssl/ssl.h>

#include <optional>
#include <string>

#include "api/base/mutex.h"
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
  Mutex mutex;
  std::string refused TPUSLICE_GUARDED_BY(mutex);  ///< Why the last certificate was refused.

  [[nodiscard]] std::string take_refused();
};

/// Verifies the server as the options say, and sends the client certificate. `connector` outlives `context`.
/// Errors: InvalidArgument.
Status configure_tls(SSL_CTX* context, Connector& connector);

/// Sets keepalive, TCP_USER_TIMEOUT and TCP_NODELAY. Options that the system rejects are ignored.
void set_socket_options(int fd, const TransportOptions& options);

/// The error of a request that failed because the certificate of the server was refused. `what` begins its message.
[[nodiscard]] Error refused_certificate(std::string_view what, std::string_view why, const Connector& connector);

}  // namespace tpuslice::http
