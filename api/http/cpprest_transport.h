// The real Transport: HTTP/1.1 over TLS with cpprestsdk's http_client, which shows nowhere outside its .cpp files.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/identity.h"
#include "api/http/transport.h"

namespace tpuslice::http {

struct TransportOptions {
  std::string server = {};     ///< "https://host:port", with an optional base path; "http://" speaks plain HTTP.
  std::string proxy_url = {};  ///< "http://[user:password@]host:port"; empty: direct.
  std::string ca = {};         ///< PEM bundle that signs the server; nothing else is trusted. Required for https.
  std::string tls_server_name =
      {};  ///< Name expected in the certificate and sent as SNI; default: the host of `server`.
  bool insecure_skip_verify = false;  ///< Accept any certificate. Then `ca` may be empty.

  /// The bearer token of the next request, asked for every request; no value: no Authorization header. After a 401 it
  /// is asked once more with `refresh`, and the request is sent once more. Thread-safe; empty: no token.
  std::function<Result<std::optional<std::string>>(bool refresh)> bearer = {};
  /// The client certificate, asked for after `bearer`; a changed one drops the open connections. Thread-safe.
  std::function<Result<std::optional<Identity>>()> identity = {};

  std::string user_agent = "tpu-slice-operator";
  int max_parallel = 16;                  ///< Unary requests in flight; more wait within their deadline.
  std::size_t max_response = 64U << 20U;  ///< Bytes of one unary body, decompressed.
  std::size_t stream_buffer = 1U << 20U;  ///< Bytes of a stream read ahead of its reader; then TCP pushes back.
  bool gzip = true;                       ///< Sends "Accept-Encoding: gzip".
  Duration idle_timeout = std::chrono::minutes(15);       ///< A connection silent for longer is given up.
  Duration keepalive_idle = std::chrono::seconds(15);     ///< TCP keepalive starts after this much silence,
  Duration keepalive_interval = std::chrono::seconds(5);  ///< probes this often,
  int keepalive_probes = 3;                               ///< and gives up after this many.
  Duration user_timeout = std::chrono::seconds(30);       ///< TCP_USER_TIMEOUT: longest wait for an acknowledgement.
};

/// Connects on first use. Error codes are those of Transport; a refused certificate is Unavailable and says why.
///
/// At most once, except: a request on a kept connection that the server had closed meanwhile may be sent again by
/// cpprestsdk itself, whatever its method. Callers make that harmless: names are derived, never generated, and every
/// patch and delete carries a precondition.
///
/// Errors: InvalidArgument for bad URLs, certificates and keys, and for https without `ca`; Unsupported for an IPv6
/// literal as host.
[[nodiscard]] Result<std::unique_ptr<Transport>> make_cpprest_transport(TransportOptions options);

/// The threads that do cpprestsdk's I/O; process-wide by its nature. Every transport holds a share, and the last share
/// stops and joins them. Never let go of the last one on such a thread.
class IoThreads {
 public:
  virtual ~IoThreads() = default;
};

/// Starts them, or joins in. A program calls this before it has other threads, since it sets SSL_CERT_FILE and
/// SSL_CERT_DIR to nothing (cpprestsdk would read the system's CAs, which we never trust, at every connection: 25 ms).
[[nodiscard]] std::shared_ptr<IoThreads> start_io();

/// The environment ("NAME=value") as it was before start_io() changed it, and `added`, of which the last of a name
/// counts: what child processes are to have.
[[nodiscard]] std::vector<std::string> environment_for_children(
    const std::vector<std::pair<std::string, std::string>>& added = {});

}  // namespace tpuslice::http
