// WebhookServer: the admission handler behind TLS, with self-managed or provided certificates.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "api/http/server/server.h"
#include "webhook/admission_handler.h"
#include "webhook/certificates.h"

namespace tpuslice::webhook {

struct WebhookServerOptions {
  std::string address = "127.0.0.1:0";  ///< As http::ServerOptions::address.
  std::string certificate_directory;    ///< With tls.crt and tls.key; empty: self-managed.
  /// PEM file, read again at each step. Clients without a certificate that it verifies are refused; empty: all are
  /// accepted.
  std::string client_ca_file = {};
  std::string service = "tpu-slice-webhook";  ///< Self-managed: the certificate is for the names of this Service.
  std::string metrics_service = {};           ///< Self-managed: and for those of this one, if set.
  std::string namespace_name;                 ///< Self-managed: of the Services and the Secret.
  MutationOptions mutation;
};

/// Thread-safe, but for step() and run(), which one thread uses. Serves in every replica, leader or not.
class WebhookServer {
 public:
  /// Listens at once. Until the first successful step() of self-managed certificates, connections get an untrusted one
  /// and ready() is false. `reader`, `writer`, `clock` and `metrics` outlive the server.
  ///
  /// Errors: Unavailable if the address cannot be bound; InvalidArgument for a bad address or for certificate files
  /// that cannot be used; NotFound for certificate files that do not exist.
  static Result<std::unique_ptr<WebhookServer>> start(const WebhookServerOptions& options, client::Reader& reader,
                                                      client::Writer& writer, const Clock& clock, Metrics& metrics,
                                                      Logger log);
  ~WebhookServer();
  WebhookServer(const WebhookServer&) = delete;
  WebhookServer& operator=(const WebhookServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] bool ready() const { return ready_.load(); }

  /// Of reviews that come from now on. May be called from any thread.
  void set_mutation(MutationOptions mutation);
  /// Calls `serve` with each certificate that the webhook begins to serve, from step(). Called before the first step().
  void on_certificate(std::function<void(const http::Identity&)> serve) { on_certificate_ = std::move(serve); }
  /// Checks and renews the certificates; returns when the next step is due. Failures are logged and retried.
  Duration step(std::stop_token stop);
  /// Steps until `stop`.
  void run(const std::stop_token& stop);
  /// From now on each reply closes its connection. New ones are accepted until stop().
  void stop_keep_alive() { server_->stop_keep_alive(); }
  void stop() { server_->stop(); }

 private:
  class Metered;

  WebhookServer(std::unique_ptr<Metered> handler, std::unique_ptr<CertificateSource> certificates,
                std::string client_ca_file, Metrics& metrics, Logger log);
  Status listen(const std::string& address, const http::Identity& identity);
  /// Empty without a file.
  [[nodiscard]] Result<std::string> read_client_ca() const;

  std::unique_ptr<Metered> handler_;  // Outlives server_, which calls it.
  std::unique_ptr<CertificateSource> certificates_;
  const std::string client_ca_file_;
  Metrics& metrics_;
  const Logger log_;
  std::function<void(const http::Identity&)> on_certificate_;
  http::Identity identity_;
  std::string client_ca_;
  std::atomic<bool> ready_ = false;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tpuslice::webhook
