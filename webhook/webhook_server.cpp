#include "webhook/webhook_server.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/file.h"
#include "api/base/mutex.h"
#include "api/base/pause.h"
#include "api/http/tls/tls_credentials.h"
#include "tpu/rules/workload_kinds.h"
#include "webhook/admission_log.h"
#include "webhook/admission_probe.h"
#include "webhook/self_call.h"

namespace tpuslice::webhook {
namespace {

constexpr Duration kRetry = std::chrono::seconds(5);

/// Calls to itself in succession. One may fail because the server is busy, and the work of a replica that is not ready
/// falls to the others.
constexpr int kUnanswered = 3;

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
                    "(kubeConfigFile), signed by an authority in the file of --webhook-client-ca-file"};
  return reply;
}

}  // namespace

/// Controller-runtime's metrics of one path. Not in the anonymous namespace, since a class of the header has members of
/// this type.
class PathMetrics {
 public:
  PathMetrics(Metrics& metrics, std::string path)
      : metrics_(metrics),
        path_(std::move(path)),
        in_flight_(metrics.gauge("controller_runtime_webhook_requests_in_flight",
                                 "Current number of admission requests being served.", {{"webhook", path_}})),
        latency_(metrics.histogram("controller_runtime_webhook_latency_seconds",
                                   "Histogram of the latency of processing admission requests.", latency_buckets(),
                                   {{"webhook", path_}})) {
    // Those of handle_admission() are zero from the start.
    for (const int status : {200, 400, 404, 405, 413}) (void)requests(status);
  }

  [[nodiscard]] Gauge& in_flight() const { return in_flight_; }
  [[nodiscard]] Histogram& latency() const { return latency_; }
  [[nodiscard]] Counter& requests(int status) const {
    return metrics_.counter("controller_runtime_webhook_requests_total",
                            "Total number of admission requests by HTTP status code.",
                            {{"webhook", path_}, {"code", std::to_string(status)}});
  }

 private:
  Metrics& metrics_;
  const std::string path_;
  Gauge& in_flight_;
  Histogram& latency_;
};

/// The handler with controller-runtime's metrics. Thread-safe.
class WebhookServer::Metered {
 public:
  Metered(rules::MutationOptions mutation, const Clock& clock, Metrics& metrics, Logger log)
      : clock_(clock), other_paths_(metrics, "other"), log_(std::move(log), clock) {
    const auto add = [&](std::string_view path) { paths_.try_emplace(std::string(path), metrics, std::string(path)); };
    add(kMutatePodPath);
    for (const rules::WorkloadKind* kind : mutation.kinds) {
      if (!kind->path.empty()) add(kind->path);
    }
    set_mutation(std::move(mutation));
  }

  void set_mutation(rules::MutationOptions mutation) {
    auto next = std::make_shared<const rules::MutationOptions>(std::move(mutation));
    const MutexLock lock(mutex_);
    mutation_ = std::move(next);
  }

  http::Reply serve(const http::Request& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const PathMetrics& metrics = metrics_of(path);
    metrics.in_flight().add(1);
    const Instant begin = clock_.now();
    http::Reply reply;
    AdmissionRecord record;
    reply.response = handle_admission(request, *mutation(), &record);
    reply.trusts_client = reply.response.status == 200;
    metrics.latency().observe(std::chrono::duration<double>(clock_.now() - begin).count());
    metrics.in_flight().add(-1);
    metrics.requests(reply.response.status).increment();
    log_.record(path, record);
    return reply;
  }

 private:
  [[nodiscard]] std::shared_ptr<const rules::MutationOptions> mutation() const {
    const MutexLock lock(mutex_);
    return mutation_;
  }
  /// Unknown paths share their metrics, as there may be any number of them.
  [[nodiscard]] const PathMetrics& metrics_of(const std::string& path) const {
    const auto found = paths_.find(path);
    return found == paths_.end() ? other_paths_ : found->second;
  }

  const Clock& clock_;
  const PathMetrics other_paths_;
  std::map<std::string, PathMetrics> paths_;  // Constant after construction.
  AdmissionLog log_;
  mutable Mutex mutex_;
  std::shared_ptr<const rules::MutationOptions> mutation_ TPUSLICE_GUARDED_BY(mutex_);
};

WebhookServer::WebhookServer(const WebhookServerOptions& options, client::Reader& reader, client::Writer& writer,
                             const Clock& clock, Metrics& metrics, Logger log)
    : options_(options),
      clock_(clock),
      metrics_(metrics),
      log_(std::move(log)),
      handler_(std::make_unique<Metered>(options.mutation, clock, metrics, log_)),
      failure_policy_({.namespace_name = options.namespace_name}, reader, writer, metrics, log_) {
  SelfManagedOptions managed;
  managed.namespace_name = options.namespace_name;
  managed.service = options.service;
  managed.metrics_service = options.metrics_service;
  certificates_ = options.certificate_directory.empty() ? self_managed_certificates(managed, reader, writer, clock)
                                                        : certificates_from_files(options.certificate_directory);
}

WebhookServer::~WebhookServer() {
  if (server_) server_->stop();
}

Result<std::unique_ptr<WebhookServer>> WebhookServer::start(const WebhookServerOptions& options, client::Reader& reader,
                                                            client::Writer& writer, const Clock& clock,
                                                            Metrics& metrics, const Logger& log) {
  std::unique_ptr<WebhookServer> server(
      new WebhookServer(options, reader, writer, clock, metrics, log.with({{"component", "webhook"}})));
  const bool from_files = !options.certificate_directory.empty();
  const auto identity = from_files ? server->certificates_->step({}) : placeholder_identity(clock.wall());
  if (!identity) return identity.error();
  RETURN_IF_ERROR(server->listen(*identity));
  server->trusted_ = from_files;
  if (from_files) measure_certificate(metrics, "webhook", *identity);
  return server;
}

Status WebhookServer::listen(const http::Identity& identity) {
  ASSIGN_OR_RETURN(client_ca_, read_client_ca());
  http::ServerOptions options;
  options.address = options_.address;
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
  auto server = http::Server::start(
      std::move(options), clock_,
      [this](const http::Request& request, const http::Peer& peer) { return answer(request, peer); });
  if (!server) return server.error();
  server_ = std::move(*server);
  identity_ = identity;
  return {};
}

http::Reply WebhookServer::answer(const http::Request& request, const http::Peer& peer) const {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  http::Reply reply;
  if (path == kHealthPath) {
    reply.response = {200, {{"Content-Type", "text/plain; charset=utf-8"}}, "ok"};
    return reply;
  }
  if (!options_.client_ca_file.empty() && !peer.has_certificate) return refuse_client();
  if (path != kProbePath) return handler_->serve(request);
  reply.response = answer_probe(request);
  return reply;
}

Result<std::string> WebhookServer::read_client_ca() const {
  if (options_.client_ca_file.empty()) return std::string();
  Result<std::string> pem = read_file(options_.client_ca_file);
  return pem ? pem : Result<std::string>(pem.error().within("client CA"));
}

void WebhookServer::set_mutation(rules::MutationOptions mutation) { handler_->set_mutation(std::move(mutation)); }

Duration WebhookServer::step(const std::stop_token& stop) {
  const Duration next = renew_certificate(stop);
  call_self(stop);
  if (stopping_ || stop.stop_requested()) return next;
  if (const Instant now = clock_.now(); now >= failure_policy_due_) {
    failure_policy_due_ = now + failure_policy_.step(ready(), stop);
  }
  return std::clamp<Duration>(failure_policy_due_ - clock_.now(), Duration::zero(), next);
}

Duration WebhookServer::renew_certificate(const std::stop_token& stop) {
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
  trusted_ = true;
  return uses_file ? certificates_->interval() : kRetry;
}

void WebhookServer::call_self(const std::stop_token& stop) {
  SelfCall call;
  call.address = options_.address;
  call.port = port();
  call.authorities = certificates_->authorities();
  call.server_name = service_dns_names(options_.service, options_.namespace_name)[2];
  const Status answered = self_call(call, stop);
  if (stop.stop_requested()) return;
  unanswered_ = answered ? 0 : unanswered_ + 1;
  if (answered) {
    answers_ = true;
  } else if (unanswered_ >= kUnanswered && answers_.exchange(false)) {
    log_.error("the webhook does not answer itself; not ready", {{"error", answered.error().message()}});
  } else {
    log_.warn("the webhook did not answer itself", {{"error", answered.error().message()}});
  }
}

void WebhookServer::stop_keep_alive() {
  stopping_ = true;
  server_->stop_keep_alive();
}

void WebhookServer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) pause(step(stop), stop);
}

}  // namespace tpuslice::webhook
