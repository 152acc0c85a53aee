// Boost 1.74, below cpprestsdk, uses std::exchange without its header.
#include <utility>

// An exception that is not observed would end the process.
#define _REPORT_PPLTASK_UNOBSERVED_EXCEPTION() static_cast<void>(0)  // NOLINT: its name is theirs
// cpprestsdk's U() macro breaks fmt.
#define _TURN_OFF_PLATFORM_STRING  // NOLINT: its name is theirs
#include <cpprest/containerstream.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

#include <atomic>
#include <exception>
#include <vector>

#include "api/base/mutex.h"
#include "api/base/strings.h"
#include "api/http/rest/received_bytes.h"
#include "api/http/rest/rest_connection.h"

/// Replaces OpenSSL's function for cpprestsdk, which calls it for every connection before configure_tls() replaces the
/// store: reading the system's authorities takes 27 ms. Nothing in a program with this file trusts them.
int SSL_CTX_set_default_verify_paths(SSL_CTX* /*context*/) { return 1; }

namespace tpuslice::http {
namespace {

namespace rest = web::http;

/// cpprestsdk would start 40. With several, a connection may be kept only after its answer was passed on, and the next
/// call connects again.
constexpr int kThreads = 1;
constexpr Duration kPoll = std::chrono::milliseconds(10);  ///< Interval of looks at the received bytes.
constexpr Duration kMaxCancel = std::chrono::seconds(2);   ///< Time for a cancelled call to end.
constexpr std::uint64_t kMaxFraming = 1U << 20U;           ///< Bytes of the head, and of what stands around a chunk.
constexpr std::chrono::microseconds kMaxIdle = std::chrono::hours(24);

void limit_threads() {
  static const bool kLimited = [] {
    crossplat::threadpool::initialize_with_threads(kThreads);
    return true;
  }();
  static_cast<void>(kLimited);
}

/// The descriptor of the connection, and why its server was refused. Written by cpprestsdk's threads.
struct SocketState {
  std::atomic<int> descriptor = -1;
  std::atomic<int> refusal = X509_V_OK;  ///< A result of X509_verify_cert().
};

int verify_and_record(X509_STORE_CTX* chain, void* state) {
  const int verified = X509_verify_cert(chain);
  if (verified != 1) static_cast<SocketState*>(state)->refusal = X509_STORE_CTX_get_error(chain);
  return verified;
}

/// Opens the socket before cpprestsdk does: its options can only be set on an open one.
void prepare_socket(boost::asio::ip::tcp::socket& socket, SocketState& state, const TransportOptions& options) {
  boost::system::error_code problem;
  if (!socket.is_open()) socket.open(boost::asio::ip::tcp::v4(), problem);
  if (problem) return;
  set_socket_options(socket.native_handle(), options);
  // When it is closed, the connection is reset: what the kernel has not sent of a request that was given up is not sent
  // later, and a server that goes on sending ends.
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  state.descriptor = socket.native_handle();
}

rest::client::http_client_config config_for(const std::shared_ptr<Connector>& connector,
                                            const std::shared_ptr<SocketState>& state) {
  rest::client::http_client_config config;
  const auto idle = std::chrono::duration_cast<std::chrono::microseconds>(connector->options.idle_timeout);
  config.set_timeout(std::min(idle, kMaxIdle));
  config.set_max_redirects(0);
  const bool tls = connector->server.tls();
  config.set_nativehandle_options([connector, state, tls](rest::client::native_handle handle) {
    using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>;
    auto& socket =
        tls ? static_cast<TlsStream*>(handle)->next_layer() : *static_cast<boost::asio::ip::tcp::socket*>(handle);
    prepare_socket(socket, *state, connector->options);
  });
  if (!tls) return config;
  const std::string& host = connector->expected_host;
  config.set_tlsext_sni_enabled(!is_ipv4(host) && !is_ipv6(host));
  config.set_validate_certificates(!connector->options.insecure_skip_verify);
  config.set_ssl_context_callback([connector, state](boost::asio::ssl::context& context) {
    if (const Status configured = configure_tls(context.native_handle(), *connector); !configured) {
      throw std::runtime_error(configured.error().message());
    }
    if (connector->options.insecure_skip_verify) return;
    SSL_CTX_set_cert_verify_callback(context.native_handle(), verify_and_record, state.get());
  });
  return config;
}

/// The request whose text (network_transport.cpp) is `call.text`.
rest::http_request request_of(const Call& call, const Connector& connector) {
  const std::string_view text = call.text;
  const std::size_t head_end = text.find("\r\n\r\n");
  std::size_t line_end = text.find("\r\n");
  const std::size_t target = call.method.size() + 1;
  rest::http_request request(call.method);
  request.set_request_uri(std::string(text.substr(target, text.find(' ', target) - target)));
  std::string type = "application/octet-stream";
  while (line_end < head_end) {
    const std::size_t begin = line_end + 2;
    line_end = text.find("\r\n", begin);
    const std::string_view line = text.substr(begin, line_end - begin);
    const std::size_t colon = line.find(": ");
    const std::string name(line.substr(0, colon));
    const std::string value(line.substr(colon + 2));
    if (equals_ignoring_case(name, "content-length")) continue;
    if (equals_ignoring_case(name, "content-type")) {
      type = value;
    } else if (equals_ignoring_case(name, "host") && connector.server.tls()) {
      request.headers().add(name, connector.expected_host);  // It is also the name that the certificate must have.
    } else {
      request.headers().add(name, value);
    }
  }
  if (call.method != "GET") request.set_body(std::string(text.substr(head_end + 4)), type);
  return request;
}

Response response_of(const rest::http_response& answer, const std::vector<std::uint8_t>& body) {
  Response response;
  response.status = answer.status_code();
  for (const auto& [name, value] : answer.headers()) response.headers.emplace_back(name, value);
  response.body.assign(body.begin(), body.end());
  return response;
}

}  // namespace

struct RestConnection::Client {
  Client(const std::shared_ptr<Connector>& connector, const std::string& address)
      : state(std::make_shared<SocketState>()),
        http(fmt::format("{}://{}:{}", connector->server.scheme, address, connector->server.port),
             config_for(connector, state)) {}

  const std::shared_ptr<SocketState> state;
  rest::client::http_client http;
};

/// Shared with the threads of cpprestsdk, which may outlive the call.
struct RestConnection::Answer {
  using Body = Concurrency::streams::container_buffer<std::vector<std::uint8_t>>;

  Body body;
  /// Bytes that the connection had received when the body grew last; before that, when the call began.
  std::uint64_t received_at_progress = 0;
  std::atomic<std::uint64_t> body_size = 0;
  pplx::cancellation_token_source cancel;
  Mutex mutex;
  ConditionVariable changed;
  bool has_head TPUSLICE_GUARDED_BY(mutex) = false;
  bool done TPUSLICE_GUARDED_BY(mutex) = false;
  rest::http_response response TPUSLICE_GUARDED_BY(mutex);
  std::exception_ptr problem TPUSLICE_GUARDED_BY(mutex);

  void finish(const pplx::task<rest::http_response>& whole) {
    const MutexLock lock(mutex);
    try {
      response = whole.get();
    } catch (...) {
      problem = std::current_exception();
    }
    done = true;
    changed.notify_all();
  }
  pplx::task<rest::http_response> take_head(const rest::http_response& head) {
    {
      const MutexLock lock(mutex);
      has_head = true;
    }
    return head.content_ready();
  }
};

RestConnection::RestConnection(std::shared_ptr<Connector> connector, const std::string& address)
    : connector_(std::move(connector)), client_([&] {
        limit_threads();
        return std::make_unique<Client>(connector_, address);
      }()) {}

RestConnection::~RestConnection() = default;

Result<Response> RestConnection::exchange(const Call& call, bool& unreachable) {
  unreachable = false;
  client_->state->refusal = X509_V_OK;
  const auto answer = std::make_shared<Answer>();
  answer->received_at_progress = received_bytes(client_->state->descriptor);
  rest::http_request request = request_of(call, *connector_);
  request.set_response_stream(answer->body.create_ostream());
  request.set_progress_handler([answer](rest::message_direction::direction direction, utility::size64_t size) {
    if (direction == rest::message_direction::download) answer->body_size = size;
  });
  client_->http.request(request, answer->cancel.get_token())
      .then([answer](const pplx::task<rest::http_response>& head) { return answer->take_head(head.get()); })
      .then([answer](const pplx::task<rest::http_response>& whole) { answer->finish(whole); });
  if (auto ended = wait_for(*answer, call)) return *std::move(ended);

  const MutexLock lock(answer->mutex);
  if (answer->problem) return error_of(answer->problem, call, unreachable);
  Response response = response_of(answer->response, answer->body.collection());
  if (response.body.size() > call.max_response) return too_long(call);
  if (auto damaged = unpack(call, response)) return *std::move(damaged);
  return response;
}

std::optional<Error> RestConnection::wait_for(Answer& answer, const Call& call) const {
  std::optional<Error> ended;
  int over_limit = 0;  // Looks in a row; the head may have been read, but not reported yet.
  std::uint64_t body_size = 0;
  while (!ended) {
    bool has_head = false;
    {
      const MutexLock lock(answer.mutex);
      const Duration left = std::max<Duration>(call.until - clock_.now(), Duration::zero());
      if (answer.changed.wait_for(answer.mutex, call.stop, std::min(left, kPoll),
                                  [&answer]() TPUSLICE_REQUIRES(answer.mutex) { return answer.done; })) {
        return std::nullopt;
      }
      has_head = answer.has_head;
    }
    const std::uint64_t size = answer.body_size;
    const std::uint64_t received = received_bytes(client_->state->descriptor);
    if (size != body_size) {
      body_size = size;
      answer.received_at_progress = received;
    }
    // What has arrived since then is in memory: the head, a chunk that is not complete, or what stands around it.
    const std::uint64_t limit = has_head ? call.max_response + kMaxFraming : kMaxFraming;
    over_limit = received > answer.received_at_progress + limit ? over_limit + 1 : 0;
    if (call.stop.stop_requested()) {
      ended = cancelled(call);
    } else if (clock_.now() >= call.until) {
      ended = no_answer_in_time(call);
    } else if (size > call.max_response) {
      ended = too_long(call);
    } else if (over_limit >= 2) {
      ended = Error::unavailable("{}: the head or a chunk of the response is longer than {} bytes", call.what, limit);
    }
  }
  answer.cancel.cancel();
  const MutexLock lock(answer.mutex);
  answer.changed.wait_for(answer.mutex, kMaxCancel,
                          [&answer]() TPUSLICE_REQUIRES(answer.mutex) { return answer.done; });
  return ended;
}

Error RestConnection::error_of(const std::exception_ptr& problem, const Call& call, bool& unreachable) const {
  if (const int refusal = client_->state->refusal; refusal != X509_V_OK) {
    return refused_certificate(call.what, X509_verify_cert_error_string(refusal), *connector_);
  }
  try {
    std::rethrow_exception(problem);
  } catch (const rest::http_exception& failed) {
    const std::error_code code = failed.error_code();
    if (code == std::errc::timed_out) return no_bytes_received(call, connector_->options.idle_timeout);
    unreachable = code == std::errc::host_unreachable;
    if (unreachable) return Error::unavailable("{}: no connection: {}", call.what, failed.what());
    return Error::unavailable("{}: connection lost: {}", call.what, failed.what());
  } catch (const std::exception& failed) {
    return Error::unavailable("{}: {}", call.what, failed.what());
  }
}

}  // namespace tpuslice::http
