#include "api/http/client/network_transport.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <utility>

#include "api/http/client/calls.h"
#include "api/http/client/connector.h"
#include "api/http/client/parallel_limit.h"
#include "api/http/client/tunnel.h"

namespace tpuslice::http {
namespace {

constexpr Duration kMaxWait = std::chrono::hours(24);

/// The connections that one client certificate and CA bundle were used for.
struct Pool {
  std::shared_ptr<Connector> connector;
  std::unique_ptr<Calls> calls;
};

bool breaks_lines(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

class NetworkTransport final : public Transport {
 public:
  NetworkTransport(TransportOptions options, BaseUrl server, std::optional<BaseUrl> proxy, MakeCalls make)
      : options_(std::move(options)),
        server_(std::move(server)),
        proxy_(std::move(proxy)),
        make_calls_(make),
        parallel_(options_.max_parallel, clock_) {
    if (options_.metrics != nullptr) measure(*options_.metrics);
  }
  ~NetworkTransport() override {
    if (options_.metrics != nullptr) options_.metrics->stop_updates(this);
  }
  NetworkTransport(const NetworkTransport&) = delete;
  NetworkTransport& operator=(const NetworkTransport&) = delete;

  Result<Response> call(const Request& request, Duration deadline, std::stop_token stop) override {
    const Instant begun = clock_.now();
    const Instant until = begun + std::min(deadline, kMaxWait);
    const std::optional<Instant> entered = parallel_.enter(until, stop);
    if (waits_ != nullptr) {
      waits_->observe(std::chrono::duration<double>(entered.value_or(clock_.now()) - begun).count());
    }
    if (!entered) {
      if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", describe(request));
      return Error::of(ErrorCode::kTimeout, "{}: not sent in time: {} other requests in flight", describe(request),
                       parallel_.limit());
    }
    Result<Response> response = guarded([&] { return call_now(request, until, stop); });
    parallel_.leave(*entered, response ? response->status : 0);
    return response;
  }

  Result<std::unique_ptr<Stream>> open(const Request& request, Duration deadline, std::stop_token stop) override {
    const Instant until = clock_.now() + std::min(deadline, kMaxWait);
    return guarded([&] { return open_now(request, until, stop); });
  }

  /// Checks that certificates and keys are usable, before anything is sent. Errors: InvalidArgument.
  Status check() {
    const auto calls = make_calls_(make_connector(std::nullopt, options_.ca));
    return calls ? Status() : Status(calls.error());
  }

 private:
  void measure(Metrics& metrics) {
    const MetricLabels labels{{"client", options_.client_name}};
    waits_ = &metrics.histogram("tpuslice_api_client_wait_seconds",
                                "Time until a request to the API server was sent because of the limit of requests in "
                                "flight.",
                                latency_buckets(), labels);
    Gauge& in_flight =
        metrics.gauge("tpuslice_api_client_requests_in_flight", "Requests to the API server under way.", labels);
    Gauge& limit = metrics.gauge("tpuslice_api_client_requests_in_flight_limit",
                                 "Most requests under way; halved when the API server answers 429.", labels);
    metrics.update_at_scrape(this, [this, &in_flight, &limit] {
      in_flight.set(parallel_.busy());
      limit.set(parallel_.limit());
    });
  }

  /// No exception leaves this folder.
  template <typename Call>
  static auto guarded(Call call) -> decltype(call()) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      return Error::unavailable("request not sent: out of memory");
    } catch (const std::exception& problem) {
      return Error::defect("request not sent: {}", problem.what());
    }
  }

  /// What a request is sent with.
  struct Sender {
    std::optional<std::string> token;
    std::shared_ptr<Pool> pool;
  };
  Result<Sender> sender(bool refresh) TPUSLICE_EXCLUDES(mutex_) {
    Sender out;
    if (options_.bearer) {
      ASSIGN_OR_RETURN(out.token, options_.bearer(refresh));
    }
    std::optional<Identity> identity;
    if (options_.identity) {
      ASSIGN_OR_RETURN(identity, options_.identity());
    }
    std::string ca = options_.ca;
    if (options_.read_ca) {
      ASSIGN_OR_RETURN(ca, options_.read_ca());
    }
    ASSIGN_OR_RETURN(out.pool, pool_for(identity, ca));
    return out;
  }

  Result<Response> call_now(const Request& request, Instant until, const std::stop_token& stop) {
    for (bool refresh = false;; refresh = true) {
      ASSIGN_OR_RETURN(const Sender with, sender(refresh));
      ASSIGN_OR_RETURN(const Call call, call_of(request, with.token, until, stop));
      Result<Response> response = with.pool->calls->call(call);
      if (!response || response->status != 401 || !options_.bearer || refresh) return response;
    }
  }

  Result<std::unique_ptr<Stream>> open_now(const Request& request, Instant until, const std::stop_token& stop) {
    for (bool refresh = false;; refresh = true) {
      ASSIGN_OR_RETURN(const Sender with, sender(refresh));
      ASSIGN_OR_RETURN(const Call call, call_of(request, with.token, until, stop));
      Result<std::unique_ptr<Stream>> stream = with.pool->calls->open(call);
      if (!stream || (*stream)->status() != 401 || !options_.bearer || refresh) return stream;
    }
  }

  Result<Call> call_of(const Request& request, const std::optional<std::string>& token, Instant until,
                       const std::stop_token& stop) const {
    ASSIGN_OR_RETURN(std::string text, text_of(request, token));
    const std::size_t limit = request.max_response == 0 ? options_.max_response : request.max_response;
    return Call{describe(request),
                request.method,
                std::move(text),
                until,
                stop,
                request.may_send,
                std::min(limit, options_.max_response)};
  }

  /// Head and body of a request. Errors: InvalidArgument for a line break, which would start another header.
  Result<std::string> text_of(const Request& request, const std::optional<std::string>& token) const {
    const bool absolute = proxy_ && !server_.tls();
    std::string out = fmt::format("{} {}{}{} HTTP/1.1\r\n", request.method, absolute ? server_.origin() : std::string(),
                                  server_.path, request.target);
    if (breaks_lines(std::string_view(out).substr(0, out.size() - 2))) {
      return Error::invalid_argument("{}: a line break in the request line", describe(request));
    }
    Headers headers;
    if (find_header(request.headers, "Host") == nullptr) {
      headers.emplace_back("Host", server_.authority());
    }
    if (find_header(request.headers, "User-Agent") == nullptr) headers.emplace_back("User-Agent", options_.user_agent);
    if (options_.gzip) headers.emplace_back("Accept-Encoding", "gzip");
    headers.insert(headers.end(), request.headers.begin(), request.headers.end());
    if (token) headers.emplace_back("Authorization", "Bearer " + *token);
    if (!request.body.empty() || request.method != "GET") {
      headers.emplace_back("Content-Length", std::to_string(request.body.size()));
    }
    for (const auto& [name, value] : headers) {
      if (breaks_lines(name) || breaks_lines(value)) {
        return Error::invalid_argument("{}: a line break in header {}", describe(request), name);
      }
      out += fmt::format("{}: {}\r\n", name, value);
    }
    if (absolute) out += proxy_authorization(*proxy_);
    out += "\r\n";
    out += request.body;
    return out;
  }

  std::string describe(const Request& request) const {
    return fmt::format("{} {}{}{}", request.method, server_.origin(), server_.path, split_target(request.target).path);
  }

  const std::string& expected_host() const {
    return options_.tls_server_name.empty() ? server_.host : options_.tls_server_name;
  }

  std::shared_ptr<Connector> make_connector(std::optional<Identity> identity, std::string ca) const {
    auto connector = std::make_shared<Connector>();
    connector->options = options_;
    connector->options.bearer = nullptr;
    connector->options.identity = nullptr;
    connector->options.read_ca = nullptr;
    connector->options.ca = std::move(ca);
    connector->server = server_;
    connector->proxy = proxy_;
    connector->expected_host = expected_host();
    connector->identity = std::move(identity);
    return connector;
  }

  Result<std::shared_ptr<Pool>> pool_for(const std::optional<Identity>& identity, const std::string& ca)
      TPUSLICE_EXCLUDES(mutex_) {
    std::shared_ptr<Pool> old;  // Let go of outside of the lock.
    const MutexLock lock(mutex_);
    if (pool_ && pool_->connector->identity == identity && pool_->connector->options.ca == ca) return pool_;
    std::shared_ptr<Connector> connector = make_connector(identity, ca);
    ASSIGN_OR_RETURN(std::unique_ptr<Calls> calls, make_calls_(connector));
    old = std::exchange(pool_, std::make_shared<Pool>(Pool{connector, std::move(calls)}));
    return pool_;
  }

  const TransportOptions options_;
  const BaseUrl server_;
  const std::optional<BaseUrl> proxy_;
  const MakeCalls make_calls_;
  const RealClock clock_;
  ParallelLimit parallel_;
  Histogram* waits_ = nullptr;  ///< Null without metrics.
  Mutex mutex_;
  std::shared_ptr<Pool> pool_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Transport>> make_network_transport(TransportOptions options) {
  return make_transport_with(std::move(options), OwnCalls::make);
}

Result<std::unique_ptr<Transport>> make_transport_with(TransportOptions options, MakeCalls make) {
  ASSIGN_OR_RETURN(BaseUrl server, parse_base_url(options.server));
  if (!server.user.empty()) {
    return Error::unsupported("server {}: user and password in the URL are not supported; use a token",
                              server.origin());
  }
  if (server.tls() && options.ca.empty() && !options.insecure_skip_verify) {
    return Error::invalid_argument("server {}: no certificate authority is given to verify it with", options.server);
  }
  if (options.max_parallel < 1) {
    return Error::invalid_argument("max_parallel is {}, must be at least 1", options.max_parallel);
  }
  // OpenSSL writes to sockets without MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  std::optional<BaseUrl> proxy;
  if (!options.proxy_url.empty()) {
    Result<BaseUrl> parsed = parse_base_url(options.proxy_url);
    if (!parsed) return parsed.error().within("proxy");
    if (parsed->tls()) return Error::unsupported("proxy {}: only http:// proxies are supported", parsed->origin());
    proxy = *std::move(parsed);
  }
  auto transport = std::make_unique<NetworkTransport>(std::move(options), std::move(server), std::move(proxy), make);
  RETURN_IF_ERROR(transport->check());
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace tpuslice::http
