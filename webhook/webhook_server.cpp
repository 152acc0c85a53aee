#include "webhook/webhook_server.h"

#include "api/base/file.h"
#include "api/base/pause.h"
#include "api/http/tls/tls_credentials.h"
#include "webhook/admission_log.h"

namespace tpuslice::webhook {
namespace {

constexpr Duration kRetry = std::chrono::seconds(5);

/// A certificate for TLS until the real one is known.
Result<http::Identity> placeholder_identity(Timestamp now) {
  const http::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(24)};
  ASSIGN_OR_RETURN(const http::Identity authority, http::make_certificate_authority("not-ready", validity));
  http::CertificateRequest request;
  request.common_name = "not-ready";
  request.dns_names = {"not-ready"};
  return http::issue_certificate(authority, request, validity);
}

http::Reply refuse_client() {
  http::Reply reply;
  reply.response = {401,
                    {{"Content-Type", "text/plain; charset=utf-8"}},
                    "a client certificate is required: give the API server one in its admission configuration "
                    "(kubeConfigFile), signed "
                    "by an authority in the file of --webhook-client-ca-file"};
  return reply;
}

}  // namespace

/// The handler with controller-runtime's metrics. Thread-safe.
class WebhookServer::Metered {
 public:
  Metered(MutationOptions mutation, const Clock& clock, Metrics& metrics, Logger log)
      : mutation_(std::move(mutation)), clock_(clock), metrics_(metrics), log_(std::move(log), clock) {}

  http::Reply serve(const http::Request& request) {
    // Unknown paths share one label value, as there may be any number of them.
    const std::string path = request.target.substr(0, request.target.find('?'));
    const MetricLabels labels{{"webhook", is_admission_path(path) ? path : "other"}};
    Gauge& in_flight = metrics_.gauge("controller_runtime_webhook_requests_in_flight",
                                      "Current number of admission requests being served.", labels);
    in_flight.add(1);
    const Instant begin = clock_.now();
    http::Reply reply;
    AdmissionRecord record;
    reply.response = handle_admission(request, mutation_, &record);
    reply.trusts_client = reply.response.status == 200;
    metrics_
        .histogram("controller_runtime_webhook_latency_seconds",
                   "Histogram of the latency of processing admission requests.", latency_buckets(), labels)
        .observe(std::chrono::duration<double>(clock_.now() - begin).count());
    in_flight.add(-1);
    metrics_
        .counter("controller_runtime_webhook_requests_total", "Total number of admission requests by HTTP status code.",
                 {{"webhook", labels.at("webhook")}, {"code", std::to_string(reply.response.status)}})
        .increment();
    log_.record(path, record);
    return reply;
  }

 private:
  const MutationOptions mutation_;
  const Clock& clock_;
  Metrics& metrics_;
  AdmissionLog log_;
};

WebhookServer::WebhookServer(std::unique_ptr<Metered> handler, std::unique_ptr<CertificateSource> certificates,
                             std::string client_ca_file, Metrics& metrics, Logger log)
    : handler_(std::move(handler)),
      certificates_(std::move(certificates)),
      client_ca_file_(std::move(client_ca_file)),
      metrics_(metrics),
      log_(std::move(log)) {}

WebhookServer::~WebhookServer() {
  if (server_) server_->stop();
}

Result<std::unique_ptr<WebhookServer>> WebhookServer::start(const WebhookServerOptions& options, client::Reader& reader,
                                                            client::Writer& writer, const Clock& clock,
                                                            Metrics& metrics, Logger log) {
  const Logger webhook_log = log.with({{"component", "webhook"}});
  auto handler = std::make_unique<Metered>(options.mutation, clock, metrics, webhook_log);
  const bool from_files = !options.certificate_directory.empty();
  SelfManagedOptions managed;
  managed.namespace_name = options.namespace_name;
  managed.service = options.service;
  managed.metrics_service = options.metrics_service;
  auto certificates = from_files ? certificates_from_files(options.certificate_directory)
                                 : self_managed_certificates(managed, reader, writer, clock);
  std::unique_ptr<WebhookServer> server(
      new WebhookServer(std::move(handler), std::move(certificates), options.client_ca_file, metrics, webhook_log));
  const auto identity = from_files ? server->certificates_->step({}) : placeholder_identity(clock.wall());
  if (!identity) return identity.error();
  RETURN_IF_ERROR(server->listen(options.address, *identity));
  server->ready_ = from_files;
  if (from_files) measure_certificate(metrics, "webhook", *identity);
  return server;
}

Status WebhookServer::listen(const std::string& address, const http::Identity& identity) {
  ASSIGN_OR_RETURN(client_ca_, read_client_ca());
  http::ServerOptions options;
  options.address = address;
  options.tls = identity;
  options.client_ca = client_ca_;
  options.body_limit = kMaxReviewBytes;
  options.body_budget = 4 * kMaxReviewBytes;  // One of the longest for each address.
  options.reply_budget = 16U << 20U;
  static_assert(kMaxReplyBytes <= (16U << 20U) / 4);
  options.socket_buffer = 64 << 10;
  options.max_connections = 512;
  options.max_connections_per_peer = 256;
  // The API server waits for 5 s (timeoutSeconds in deploy/webhook) from its first byte to our last.
  options.wait_timeout = std::chrono::seconds(5);
  options.write_timeout = std::chrono::seconds(5);
  auto server = http::Server::start(std::move(options), [handler = handler_.get(), verifies = !client_ca_file_.empty()](
                                                            const http::Request& request, const http::Peer& peer) {
    return verifies && !peer.has_certificate ? refuse_client() : handler->serve(request);
  });
  if (!server) return server.error();
  server_ = std::move(*server);
  identity_ = identity;
  return {};
}

Result<std::string> WebhookServer::read_client_ca() const {
  if (client_ca_file_.empty()) return std::string();
  Result<std::string> pem = read_file(client_ca_file_);
  return pem ? pem : Result<std::string>(pem.error().within("client CA"));
}

Duration WebhookServer::step(std::stop_token stop) {
  const Result<std::string> read = read_client_ca();
  // Certificates are renewed whatever the file contains.
  if (!read) log_.warn("client CA not read; the last one is used", {{"error", read.error().message()}});
  bool uses_file = read.ok();
  std::string client_ca = read.value_or(client_ca_);
  const auto identity = certificates_->step(stop);
  if (!identity) {
    if (!stop.stop_requested()) log_.warn("certificates not renewed", {{"error", identity.error().message()}});
    return std::max(kRetry, identity.error().retry_after().value_or(Duration::zero()));
  }
  const bool renewed = *identity != identity_;
  if (renewed || client_ca != client_ca_) {
    Status taken = server_->set_tls(*identity, client_ca);
    if (!taken && client_ca != client_ca_) {
      log_.warn("client CA not loaded; the last one is used", {{"error", taken.error().message()}});
      uses_file = false;
      client_ca = client_ca_;
      taken = renewed ? server_->set_tls(*identity, client_ca) : Status();
    }
    if (!taken) {
      log_.error("certificate not loaded", {{"error", taken.error().message()}});
      return kRetry;
    }
  }
  if (renewed || client_ca != client_ca_) {
    identity_ = *identity;
    client_ca_ = std::move(client_ca);
    measure_certificate(metrics_, "webhook", identity_);
    if (on_certificate_) on_certificate_(identity_);
    log_.info("certificate served");
  }
  ready_ = true;
  return uses_file ? certificates_->interval() : kRetry;
}

void WebhookServer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) pause(step(stop), stop);
}

}  // namespace tpuslice::webhook
