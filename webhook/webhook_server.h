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
#include "webhook/failure_policy.h"

namespace tpuslice::webhook {

struct WebhookServerOptions {
  std::string address = "127.0.0.1:0";  ///< The same as http::ServerOptions::address.
  std::string certificate_directory;    ///< With tls.crt and tls.key; empty: self-managed.
  /// PEM file, read again at each step. Clients without a certificate that it verifies are refused; empty: all are
  /// accepted.
  std::string client_ca_file = {};
  std::string service = "tpu-slice-webhook";  ///< Self-managed: the certificate is for the names of this Service.
  std::string metrics_service = {};           ///< Self-managed: and for those of this one, if set.
  std::string namespace_name;  ///< Namespace of the Services, the Secret, and the probe of the failure policy.
  rules::MutationOptions mutation;
};

/// Thread-safe, except step() and run(), which one thread uses. Serves in every replica, leader or not.
class WebhookServer {
 public:
  /// Listens at once. Until the first successful step() of self-managed certificates, connections get an untrusted one.
  /// `reader`, `writer`, `clock` and `metrics` outlive the server.
  ///
  /// Errors: Unavailable if the address cannot be bound; InvalidArgument for a bad address or for certificate files
  /// that cannot be used; NotFound for certificate files that do not exist.
  static Result<std::unique_ptr<WebhookServer>> start(const WebhookServerOptions& options, client::Reader& reader,
                                                      client::Writer& writer, const Clock& clock, Metrics& metrics,
                                                      const Logger& log);
  ~WebhookServer();
  WebhookServer(const WebhookServer&) = delete;
  WebhookServer& operator=(const WebhookServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  /// Whether the API server can be answered: trusted() and answers().
  [[nodiscard]] bool ready() const { return trusted() && answers(); }
  /// The certificate is from files, or its authority is in the webhook configurations.
  [[nodiscard]] bool trusted() const { return trusted_.load(); }
  /// The last calls of the server to itself were answered; false after several in succession were not.
  [[nodiscard]] bool answers() const { return answers_.load(); }
  /// Why failurePolicy of the pod webhook is not as wanted; empty if it is.
  [[nodiscard]] std::string failure_policy_problem() const { return failure_policy_.problem(); }

  /// Sets how pods are mutated in reviews that come from now on. May be called from any thread.
  void set_mutation(rules::MutationOptions mutation);
  /// Calls `serve` with each certificate that the webhook begins to serve, from step(). Called before the first step().
  void on_certificate(std::function<void(const http::Identity&)> serve) { on_certificate_ = std::move(serve); }
  /// Checks and renews the certificates, calls the server itself, and sets the failure policy of the configuration;
  /// returns when the next step is due. Failures are logged and retried.
  Duration step(const std::stop_token& stop);
  /// Steps until `stop`.
  void run(const std::stop_token& stop);
  /// From now on each reply closes its connection, and the failure policy is left as it is. New connections are
  /// accepted until stop().
  void stop_keep_alive();
  void stop() { server_->stop(); }

 private:
  class Metered;

  WebhookServer(const WebhookServerOptions& options, client::Reader& reader, client::Writer& writer, const Clock& clock,
                Metrics& metrics, Logger log);
  Status listen(const http::Identity& identity);
  /// Empty without a file.
  [[nodiscard]] Result<std::string> read_client_ca() const;
  [[nodiscard]] http::Reply answer(const http::Request& request, const http::Peer& peer) const;
  /// Returns when it is due again.
  Duration renew_certificate(const std::stop_token& stop);
  void call_self(const std::stop_token& stop);

  const WebhookServerOptions options_;
  const Clock& clock_;
  Metrics& metrics_;
  const Logger log_;
  std::unique_ptr<Metered> handler_;  // Outlives server_, which calls it.
  std::unique_ptr<CertificateSource> certificates_;
  FailurePolicyPatcher failure_policy_;
  Instant failure_policy_due_ = Instant::min();
  std::function<void(const http::Identity&)> on_certificate_;
  http::Identity identity_;
  std::string client_ca_;
  int unanswered_ = 0;  ///< Calls to itself, in succession.
  std::atomic<bool> trusted_ = false;
  std::atomic<bool> answers_ = false;
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tpuslice::webhook
