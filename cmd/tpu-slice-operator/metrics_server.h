// MetricsServer: /metrics and debug pages by HTTPS for authorized clients, or /metrics by HTTP for all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "api/http/server/server.h"
#include "cmd/tpu-slice-operator/request_authorizer.h"
#include "webhook/certificates.h"

namespace tpuslice {

/// Called on the server's threads.
struct DebugPage {
  std::function<http::Response(const http::Request&)> answer;
  bool takes_put = false;  ///< Beside GET.
  /// Used instead of `answer` by a page that depends on who asks (RequestAuthorizer::Decision::user), or is a stream.
  std::function<http::Reply(const http::Request&, const Json& user)> reply = nullptr;
};

/// Streams that a server has at a time, if it has such pages.
inline constexpr int kMaxPageStreams = 8;
/// Threads that it has more, since such pages wait for reviews of their own (ResourceAccessOptions::max_in_flight).
inline constexpr int kPageThreads = 4;

struct MetricsServerOptions {
  std::string address = "127.0.0.1:0";  ///< The same as --metrics-bind-address.
  bool secure = true;                   ///< HTTPS and authorization.
  std::string certificate_directory;    ///< With tls.crt and tls.key; empty: another certificate.
  bool shares_certificate = false;      ///< Without a directory: set_certificate() will be called; else self-signed.
  std::string service;                  ///< The self-signed certificate is for the names of this Service.
  std::string namespace_name;           ///< Namespace of the Service.
  RequestAuthorizerOptions authorizer;
  /// Appends what is not in the registry to the text of a scrape, on the server's threads. Null: nothing.
  std::function<void(std::string& text)> append = nullptr;
  /// Further pages by path, each for clients whose user may get, or put, that path. None without `secure`: they name
  /// workloads.
  std::map<std::string, DebugPage, std::less<>> pages = {};
};

/// Options of a server whose requests have no bodies: metrics, health probes.
[[nodiscard]] http::ServerOptions small_server(const std::string& address);

/// Serves in every replica. The certificate is changed by one thread: that of run(), or the caller of
/// set_certificate().
class MetricsServer {
 public:
  /// Listens at once; with `shares_certificate`, it serves a self-signed certificate until set_certificate(). All
  /// arguments outlive the server; `reviews` should have a short deadline.
  ///
  /// Errors: Unavailable if the address cannot be bound; InvalidArgument for a bad address or for certificate files
  /// that cannot be used; NotFound for certificate files that do not exist.
  static Result<std::unique_ptr<MetricsServer>> start(const MetricsServerOptions& options, client::Writer& reviews,
                                                      const Clock& clock, Metrics& metrics, const Logger& log);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] bool shares_certificate() const { return shares_certificate_; }
  /// Whether run() is needed to renew the certificate.
  [[nodiscard]] bool keeps_certificate() const { return certificates_ != nullptr && !shares_certificate_; }
  /// New connections get this certificate from now on.
  void set_certificate(const http::Identity& identity);

  /// Reads or renews the certificate; returns when the next step is due. Failures are logged and retried.
  Duration step(std::stop_token stop);
  /// Steps until `stop`.
  void run(const std::stop_token& stop);

 private:
  MetricsServer(const MetricsServerOptions& options, client::Writer& reviews, const Clock& clock, Metrics& metrics,
                const Logger& log);
  Status listen(const MetricsServerOptions& options, const Clock& clock);
  [[nodiscard]] http::Reply answer(const http::Request& request, const http::Peer& peer);
  /// What a page, or /metrics if it is null, answers to the user.
  [[nodiscard]] http::Reply answer_user(const DebugPage* page, const http::Request& request, const Json& user);
  [[nodiscard]] http::Reply not_found() const;

  Metrics& metrics_;
  const Logger log_;
  const bool shares_certificate_;
  const decltype(MetricsServerOptions::pages) pages_;
  const decltype(MetricsServerOptions::append) append_;
  std::optional<RequestAuthorizer> authorizer_;               ///< Without: HTTP.
  std::unique_ptr<webhook::CertificateSource> certificates_;  ///< Null with HTTP.
  http::Identity identity_;                                   ///< The identity that is served.
  std::unique_ptr<http::Server> server_;
};

}  // namespace tpuslice
