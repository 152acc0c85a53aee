// The real Transport: HTTP/1.1 over TLS, with Boost.Beast. A request is written, and its response read, by the thread
// that waits for it (docs/adr/0013, 0023).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/metrics.h"
#include "api/http/tls/identity.h"
#include "api/http/transport.h"

namespace tpuslice::http {

struct TransportOptions {
  std::string server = {};     ///< "https://host:port", with an optional base path; "http://" speaks plain HTTP.
  std::string proxy_url = {};  ///< "http://[user:password@]host:port"; empty: direct.
  std::string ca = {};         ///< PEM bundle that signs the server; nothing else is trusted. Required for https.
  /// Name expected in the certificate and sent as SNI; default: the host of `server`.
  std::string tls_server_name = {};
  bool insecure_skip_verify = false;  ///< Accept any certificate. Then `ca` may be empty.

  /// Replaces `ca` where it is set: asked for every request; a changed bundle drops the open connections. Thread-safe.
  std::function<Result<std::string>()> read_ca = {};
  /// The bearer token of the next request, asked for every request; no value: no Authorization header. After a 401 it
  /// is asked once more with `refresh`, and the request is sent once more. Thread-safe; empty: no token.
  std::function<Result<std::optional<std::string>>(bool refresh)> bearer = {};
  /// The client certificate, asked for after `bearer`; a changed one drops the open connections. Thread-safe.
  std::function<Result<std::optional<Identity>>()> identity = {};

  std::string user_agent = "tpu-slice-operator";
  int max_parallel = 16;  ///< Unary requests in flight, fewer after a 429; more wait within their deadline.
  /// For the number of requests in flight, its limit and the time that requests waited for it, with the label
  /// `client_name`; outlives the transport. Null: not measured.
  Metrics* metrics = nullptr;
  std::string client_name = {};
  std::size_t max_response = 64U << 20U;                  ///< Bytes of one unary body, decompressed.
  std::size_t stream_buffer = 1U << 20U;                  ///< Bytes of a stream that one read returns at most.
  bool gzip = true;                                       ///< Sends "Accept-Encoding: gzip".
  Duration idle_timeout = std::chrono::minutes(15);       ///< A connection silent for longer is given up.
  Duration keepalive_idle = std::chrono::seconds(15);     ///< TCP keepalive starts after this much silence.
  Duration keepalive_interval = std::chrono::seconds(5);  ///< Interval of its probes.
  int keepalive_probes = 3;                               ///< Probes without an answer after which it is given up.
  Duration user_timeout = std::chrono::seconds(30);       ///< TCP_USER_TIMEOUT: longest wait for an acknowledgement.
};

/// Connects on first use. Error codes are those of Transport; a refused certificate is Unavailable with the reason.
///
/// Sends each request at most once, with two exceptions: a GET, or a request that was not sent completely, is sent once
/// more if the server closed a kept connection before it answered; any request is sent once more after a 401
/// (TransportOptions::bearer).
///
/// The process ignores SIGPIPE from here on.
///
/// Errors: InvalidArgument for bad URLs, certificates and keys, and for https without `ca`.
[[nodiscard]] Result<std::unique_ptr<Transport>> make_network_transport(TransportOptions options);

}  // namespace tpuslice::http
