#include "api/http/client/exchange.h"
// exchange.h comes first: it decides how cpprestsdk is compiled.
#include "api/http/client/io_threads.h"
#include "api/http/client/network_transport.h"

#include <netdb.h>

#include <utility>

#include "api/http/client/calls.h"
#include "api/http/client/connector.h"
#include "api/http/client/parallel_limit.h"
#include "api/http/client/tunnel.h"

namespace tpuslice::http {
namespace {

namespace compression = web::http::compression;
using web::http::client::http_client;
using web::http::client::http_client_config;

constexpr Duration kMaxWait = std::chrono::hours(24);

/// The family of the address that will be tried first; IPv4 if unknown.
int first_family(Connector& connector) {
  const int known = connector.family;
  if (known != AF_UNSPEC) return known;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (getaddrinfo(connector.server.host.c_str(), nullptr, &hints, &found) != 0) return AF_UNSPEC;
  const int family = found->ai_family;
  freeaddrinfo(found);
  connector.family = family;
  return family;
}

/// cpprestsdk hands us its socket before it is open, when no option can be set yet. So we open it.
void keep_alive(boost::asio::ip::tcp::socket& socket, Connector& connector) {
  boost::system::error_code problem;
  if (!socket.is_open()) {
    const int family = first_family(connector);
    if (family == AF_UNSPEC) return;
    socket.open(family == AF_INET6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4(), problem);
    if (problem) return;
  }
  set_socket_options(socket.native_handle(), connector.options);
}

web::web_proxy make_proxy(const BaseUrl& url) {
  web::web_proxy proxy{web::uri(url.origin())};
  if (!url.user.empty()) proxy.set_credentials(web::credentials(url.user, url.password));
  return proxy;
}

http_client_config make_config(const std::shared_ptr<Connector>& connector) {
  http_client_config config;
  const TransportOptions& options = connector->options;
  config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(options.idle_timeout));
  config.set_max_redirects(0);  // They would take the Authorization header along.
  config.set_tlsext_sni_enabled(!is_ipv4(connector->expected_host));
  config.set_request_compressed_response(options.gzip);
  config.set_validate_certificates(!options.insecure_skip_verify);
  if (connector->proxy) config.set_proxy(make_proxy(*connector->proxy));
  config.set_ssl_context_callback([connector](boost::asio::ssl::context& context) {
    const Status configured = configure_tls(context.native_handle(), *connector);
    if (!configured) throw std::runtime_error(configured.error().message());  // Becomes the request's error.
  });
  const bool tls = connector->server.tls();
  const bool direct = !connector->proxy;
  config.set_nativehandle_options([connector, tls, direct](web::http::client::native_handle handle) {
    using Socket = boost::asio::ip::tcp::socket;
    if (!direct) return;  // Opened for the proxy's addresses, which are not ours to guess.
    keep_alive(
        tls ? static_cast<boost::asio::ssl::stream<Socket&>*>(handle)->next_layer() : *static_cast<Socket*>(handle),
        *connector);
  });
  return config;
}

class CpprestStream final : public Stream {
 public:
  CpprestStream(std::shared_ptr<IoThreads> io, std::shared_ptr<Exchange> exchange, Response head)
      : io_(std::move(io)), exchange_(std::move(exchange)), head_(std::move(head)) {}
  ~CpprestStream() override { exchange_->cancel(); }
  CpprestStream(const CpprestStream&) = delete;
  CpprestStream& operator=(const CpprestStream&) = delete;

  [[nodiscard]] int status() const override { return head_.status; }
  [[nodiscard]] const Headers& headers() const override { return head_.headers; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override {
    return exchange_->read(std::min(wait, kMaxWait), std::move(stop));
  }

 private:
  const std::shared_ptr<IoThreads> io_;
  const std::shared_ptr<Exchange> exchange_;
  const Response head_;
};

/// The connections that one client certificate and CA bundle were used for.
struct Pool {
  std::shared_ptr<Connector> connector;
  std::unique_ptr<Calls> calls;
  http_client streams;
};

bool breaks_lines(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

class NetworkTransport final : public Transport {
 public:
  NetworkTransport(TransportOptions options, BaseUrl server, std::optional<BaseUrl> proxy)
      : options_(std::move(options)),
        server_(std::move(server)),
        proxy_(std::move(proxy)),
        io_(start_io()),
        parallel_(options_.max_parallel, clock_) {}

  Result<Response> call(const Request& request, Duration deadline, std::stop_token stop) override {
    const Instant until = clock_.now() + std::min(deadline, kMaxWait);
    const std::optional<Instant> entered = parallel_.enter(until, stop);
    if (!entered) {
      if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", describe(request));
      return Error::of(ErrorCode::kTimeout, "{}: {} other requests were under way all the time", describe(request),
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

  /// That certificates and keys are usable, before anything is sent. Errors: InvalidArgument.
  Status check() {
    const auto calls = Calls::make(make_connector(std::nullopt, options_.ca));
    return calls ? Status() : Status(calls.error());
  }

 private:
  /// No exception leaves this folder.
  template <typename Call>
  static auto guarded(Call call) -> decltype(call()) {
    try {
      return call();
    } catch (const std::exception& problem) {
      return Error::invalid_argument("request cannot be sent: {}", problem.what());
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
      ASSIGN_OR_RETURN(std::string text, text_of(request, with.token));
      Result<Response> response =
          with.pool->calls->call({describe(request), request.method, std::move(text), until, stop, request.may_send});
      if (!response || response->status != 401 || !options_.bearer || refresh) return response;
    }
  }

  Result<std::unique_ptr<Stream>> open_now(const Request& request, Instant until, const std::stop_token& stop) {
    bool refresh = false;
    bool retried = false;
    while (true) {
      ASSIGN_OR_RETURN(const Sender with, sender(refresh));
      auto exchange = std::make_shared<Exchange>(options_.stream_buffer);
      exchange->start(with.pool->streams, make_request(request, with.token), describe(request));
      const Result<Response> head = exchange->wait_head(until, stop);
      if (head && head->status == 401 && options_.bearer && !refresh) {
        exchange->cancel();
        refresh = true;
        continue;
      }
      if (head) return std::unique_ptr<Stream>(std::make_unique<CpprestStream>(io_, std::move(exchange), *head));
      const std::optional<Failure> failure = exchange->failure();
      if (retried || !failure || !may_repeat(*failure, request.method)) {
        return explained(head.error(), *with.pool->connector);
      }
      retried = true;
    }
  }

  /// With why the certificate was refused, if one was.
  static Error explained(const Error& error, Connector& connector) {
    if (error.code() != ErrorCode::kUnavailable) return error;
    const std::string refused = connector.take_refused();
    return refused.empty() ? error : refused_certificate(error.message(), refused, connector);
  }

  /// Head and body of a unary request. Errors: InvalidArgument for what would be read as another header.
  Result<std::string> text_of(const Request& request, const std::optional<std::string>& token) const {
    const bool absolute = proxy_ && !server_.tls();
    std::string out = fmt::format("{} {}{}{} HTTP/1.1\r\n", request.method, absolute ? server_.origin() : std::string(),
                                  server_.path, request.target);
    if (breaks_lines(std::string_view(out).substr(0, out.size() - 2))) {
      return Error::invalid_argument("{}: a line break in the request line", describe(request));
    }
    Headers headers;
    if (find_header(request.headers, "Host") == nullptr) {
      headers.emplace_back("Host", fmt::format("{}:{}", server_.host, server_.port));
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

  /// Of a stream.
  web::http::http_request make_request(const Request& request, const std::optional<std::string>& token) const {
    web::http::http_request out(request.method);
    out.set_request_uri(web::uri(server_.path + request.target));
    web::http::http_headers& headers = out.headers();
    if (!request.body.empty()) {
      out.set_body(std::vector<unsigned char>(request.body.begin(), request.body.end()));
    }
    headers["User-Agent"] = options_.user_agent;
    for (const auto& [name, value] : request.headers) headers[name] = value;
    if (token) headers["Authorization"] = "Bearer " + *token;
    // It is the Host header that decides SNI and the name cpprestsdk checks. No port in it: that breaks the check.
    if (!options_.tls_server_name.empty()) headers["Host"] = options_.tls_server_name;
    if (options_.gzip) {
      // A weight above 1000 sends exactly "gzip"; the API server understands nothing else.
      out.set_decompress_factories({compression::make_decompress_factory(
          "gzip", 1001, [] { return compression::builtin::make_decompressor("gzip"); })});
    }
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
    if (is_ipv4(server_.host)) connector->family = AF_INET;
    return connector;
  }

  Result<std::shared_ptr<Pool>> pool_for(const std::optional<Identity>& identity, const std::string& ca)
      TPUSLICE_EXCLUDES(mutex_) {
    std::shared_ptr<Pool> old;  // Let go of outside of the lock.
    const MutexLock lock(mutex_);
    if (pool_ && pool_->connector->identity == identity && pool_->connector->options.ca == ca) return pool_;
    std::shared_ptr<Connector> connector = make_connector(identity, ca);
    ASSIGN_OR_RETURN(std::unique_ptr<Calls> calls, Calls::make(connector));
    http_client streams(web::uri(server_.origin()), make_config(connector));
    old = std::exchange(pool_, std::make_shared<Pool>(Pool{connector, std::move(calls), std::move(streams)}));
    return pool_;
  }

  const TransportOptions options_;
  const BaseUrl server_;
  const std::optional<BaseUrl> proxy_;
  const std::shared_ptr<IoThreads> io_;
  const RealClock clock_;
  ParallelLimit parallel_;
  Mutex mutex_;
  std::shared_ptr<Pool> pool_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Transport>> make_network_transport(TransportOptions options) {
  ASSIGN_OR_RETURN(BaseUrl server, parse_base_url(options.server));
  if (is_ipv6(server.host)) {
    return Error::unsupported("server {}: an IPv6 address cannot be connected to; use a host name that has it",
                              options.server);
  }
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
  std::optional<BaseUrl> proxy;
  if (!options.proxy_url.empty()) {
    Result<BaseUrl> parsed = parse_base_url(options.proxy_url);
    if (!parsed) return parsed.error().within("proxy");
    if (parsed->tls()) return Error::unsupported("proxy {}: only http:// proxies are supported", parsed->origin());
    proxy = *std::move(parsed);
  }
  auto transport = std::make_unique<NetworkTransport>(std::move(options), std::move(server), std::move(proxy));
  RETURN_IF_ERROR(transport->check());
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace tpuslice::http
