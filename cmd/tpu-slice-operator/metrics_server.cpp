#include "cmd/tpu-slice-operator/metrics_server.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/ranges.h>

#include "api/base/pause.h"

namespace tpuslice {
namespace {

constexpr Duration kCertificateRetry = std::chrono::seconds(5);

http::Reply text_reply(int status, std::string body) {
  http::Reply reply;
  reply.response = {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body) + "\n"};
  if (status == 401) reply.response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 503) reply.response.headers.emplace_back("Retry-After", "5");
  return reply;
}

http::Reply wrong_method(bool takes_put) {
  http::Reply reply = text_reply(405, takes_put ? "methods are GET and PUT" : "method is GET");
  reply.response.headers.emplace_back("Allow", takes_put ? "GET, PUT" : "GET");
  return reply;
}

}  // namespace

http::ServerOptions small_server(const std::string& address) {
  http::ServerOptions options;
  options.address = address;
  options.threads = 1;
  options.header_limit = 8U << 10U;
  options.body_limit = 1024;
  options.body_budget = options.reply_budget = 8U << 20U;
  options.socket_buffer = 64 << 10;
  options.max_connections = 100;
  options.max_connections_per_peer = 50;
  options.max_streams = 0;
  options.read_timeout = std::chrono::seconds(5);
  options.wait_timeout = std::chrono::seconds(5);
  options.write_timeout = std::chrono::seconds(5);
  return options;
}

MetricsServer::MetricsServer(const MetricsServerOptions& options, client::Writer& reviews, const Clock& clock,
                             Metrics& metrics, const Logger& log)
    : metrics_(metrics),
      log_(log.with({{"component", "metrics"}})),
      shares_certificate_(options.secure && options.shares_certificate && options.certificate_directory.empty()),
      pages_(options.secure ? options.pages : decltype(options.pages)()),
      append_(options.append) {
  if (!options.secure) return;
  authorizer_.emplace(options.authorizer, reviews, clock, log_);
  certificates_ = options.certificate_directory.empty()
                      ? webhook::self_signed_certificates(
                            webhook::service_dns_names(options.service, options.namespace_name), clock)
                      : webhook::certificates_from_files(options.certificate_directory);
}

MetricsServer::~MetricsServer() {
  if (authorizer_) authorizer_->stop();
  if (server_) server_->stop();
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const MetricsServerOptions& options,
                                                            client::Writer& reviews, const Clock& clock,
                                                            Metrics& metrics, const Logger& log) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(options, reviews, clock, metrics, log));
  RETURN_IF_ERROR(server->listen(options, clock));
  return server;
}

Status MetricsServer::listen(const MetricsServerOptions& options, const Clock& clock) {
  http::ServerOptions server = small_server(options.address);
  const bool knows_users = std::ranges::any_of(pages_, [](const auto& each) { return each.second.reply != nullptr; });
  if (knows_users) server.max_streams = kMaxPageStreams;
  if (certificates_) {
    ASSIGN_OR_RETURN(server.tls, certificates_->step({}));
    // One more than reviews in flight, so that clients with a cached decision are served during reviews.
    server.threads = static_cast<int>(options.authorizer.max_in_flight) + 1 + (knows_users ? kPageThreads : 0);
    identity_ = *server.tls;
    if (!shares_certificate_) webhook::measure_certificate(metrics_, "metrics", identity_);
  }
  ASSIGN_OR_RETURN(server_, http::Server::start(std::move(server), clock,
                                                [this](const http::Request& request, const http::Peer& peer) {
                                                  return answer(request, peer);
                                                }));
  return {};
}

http::Reply MetricsServer::answer(const http::Request& request, const http::Peer& peer) {
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  const auto page = pages_.find(path);
  if (path != "/metrics" && page == pages_.end()) return not_found();
  const bool takes_put = page != pages_.end() && page->second.takes_put;
  if (request.method != "GET" && !(takes_put && request.method == "PUT")) return wrong_method(takes_put);
  Json user;
  if (authorizer_) {
    auto decision = authorizer_->authorize(request, peer);
    if (decision.status != 200) return text_reply(decision.status, decision.message);
    user = std::move(decision.user);
  }
  http::Reply reply = answer_user(page == pages_.end() ? nullptr : &page->second, request, user);
  reply.trusts_client = authorizer_.has_value();
  return reply;
}

http::Reply MetricsServer::answer_user(const DebugPage* page, const http::Request& request, const Json& user) {
  if (page != nullptr && page->reply) return page->reply(request, user);
  http::Reply reply;
  if (page != nullptr) {
    reply.response = page->answer(request);
  } else {
    reply.response = {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics_.scrape()};
    if (append_) append_(reply.response.body);
  }
  return reply;
}

http::Reply MetricsServer::not_found() const {
  if (pages_.empty()) return text_reply(404, "path is /metrics");
  return text_reply(404, fmt::format("paths are /metrics, {}", fmt::join(std::views::keys(pages_), ", ")));
}

void MetricsServer::set_certificate(const http::Identity& identity) {
  if (identity == identity_) return;
  if (const Status taken = server_->set_tls(identity, ""); !taken) {
    log_.error("certificate not loaded", {{"error", taken.error().message()}});
    return;
  }
  identity_ = identity;
  webhook::measure_certificate(metrics_, "metrics", identity_);
  log_.info("certificate served");
}

Duration MetricsServer::step(std::stop_token stop) {
  const auto identity = certificates_->step(std::move(stop));
  if (!identity) {
    log_.warn("certificate not read; the last one is served", {{"error", identity.error().message()}});
    return kCertificateRetry;
  }
  set_certificate(*identity);
  return certificates_->interval();
}

void MetricsServer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) pause(step(stop), stop);
}

}  // namespace tpuslice
