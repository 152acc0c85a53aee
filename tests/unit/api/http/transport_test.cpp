// Unary calls: requests, time-outs, replies.
#include <atomic>
#include <cstdlib>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TransportOptions plain_to(int port) {
  TransportOptions options;
  options.server = fmt::format("http://127.0.0.1:{}", port);
  return options;
}

TEST(Transport, SendsTheRequest) {
  std::string seen;
  const auto server = start(tls_options(), [&](const Request& request, const Peer&) {
    seen = request.method + " " + request.target + " " + *find_header(request.headers, "content-type") + " " +
           *find_header(request.headers, "user-agent") + " " + *find_header(request.headers, "accept-encoding") + " " +
           request.body;
    return text_reply(201, "created");
  });
  TransportOptions options = transport_options(*server);
  options.server += "/k8s/c-1/";
  options.user_agent = "tester";
  Request request = get("/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&x=%2F");
  request.method = "PATCH";
  request.headers = {{"Content-Type", "application/merge-patch+json"}};
  request.body = "{}";
  const Response response = connect(options)->call(request, kGenerous, {}).value();
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "created");
  EXPECT_EQ(*find_header(response.headers, "content-type"), "text/plain");
  EXPECT_EQ(seen,
            "PATCH /k8s/c-1/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&x=%2F application/merge-patch+json tester "
            "gzip {}");
}

TEST(Transport, ReusesItsConnection) {
  std::mutex mutex;
  std::set<std::string> peers;
  const auto server = start(tls_options(), [&](const Request&, const Peer& peer) {
    const std::lock_guard lock(mutex);
    peers.insert(peer.address);
    return text_reply(200, "");
  });
  const auto transport = connect(transport_options(*server));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(transport->call(get("/"), kGenerous, {}).ok());
  EXPECT_EQ(peers.size(), 1U);
}

TEST(Transport, ReturnsEveryStatus) {
  const auto server = start(tls_options(), [](const Request& request, const Peer&) {
    Reply reply = text_reply(std::stoi(request.target.substr(1)), "body");
    reply.response.headers.emplace_back("Location", "https://example.org/");
    return reply;
  });
  const auto transport = connect(transport_options(*server));
  for (const int status : {200, 301, 302, 307, 400, 403, 404, 409, 410, 422, 429, 500, 503, 504}) {
    EXPECT_EQ(transport->call(get(fmt::format("/{}", status)), kGenerous, {}).value().status, status);
  }
}

TEST(Transport, DecompressesGzip) {
  const std::string text(300'000, 'x');
  const auto server = start(tls_options(), [&](const Request&, const Peer&) {
    Reply reply = text_reply(200, gzip(text));
    reply.response.headers.emplace_back("Content-Encoding", "gzip");
    return reply;
  });
  EXPECT_EQ(connect(transport_options(*server))->call(get("/"), kGenerous, {}).value().body, text);
}

TEST(Transport, TimesOutAtItsDeadline) {
  Gate release;
  const auto server = start(tls_options(), [&](const Request&, const Peer&) {
    release.wait();
    return text_reply(200, "");
  });
  const auto response = connect(transport_options(*server))->call(get("/slow"), std::chrono::milliseconds(200), {});
  release.open();
  EXPECT_THAT(response, IsError(ErrorCode::kTimeout, HasSubstr("/slow")));
}

TEST(Transport, TimesOutWhenAReplyStalls) {
  Gate release;
  RawServer server([&](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
    release.wait();
  });
  const auto response = connect(plain_to(server.port()))->call(get("/"), std::chrono::milliseconds(200), {});
  release.open();
  EXPECT_THAT(response, IsError(ErrorCode::kTimeout));
}

TEST(Transport, StopsWhenStopIsRequested) {
  Gate entered;
  Gate release;
  const auto server = start_gated(entered, release);
  const auto transport = connect(transport_options(*server));
  std::stop_source stop;
  const RealClock clock;
  std::atomic<Instant> requested{};
  std::jthread stopping([&] {
    entered.wait();
    requested = clock.now();
    stop.request_stop();
  });
  const auto response = transport->call(get("/"), std::chrono::hours(1), stop.get_token());
  const Duration took = clock.now() - requested.load();
  release.open();
  EXPECT_THAT(response, IsError(ErrorCode::kCancelled));
  EXPECT_LT(took, std::chrono::seconds(2));
}

TEST(Transport, TimesOutOnAnIdleConnection) {
  Gate release;
  RawServer server([&](int fd, int) {
    RawServer::read_head(fd);
    release.wait();
  });
  TransportOptions options = plain_to(server.port());
  options.idle_timeout = std::chrono::milliseconds(300);
  const auto response = connect(options)->call(get("/"), std::chrono::hours(1), {});
  release.open();
  EXPECT_THAT(response, IsError(ErrorCode::kTimeout));
}

TEST(Transport, RefusesRepliesOverItsLimit) {
  const auto server =
      start(tls_options(), [](const Request&, const Peer&) { return text_reply(200, std::string(5000, 'a')); });
  TransportOptions options = transport_options(*server);
  options.max_response = 4999;
  const auto refused = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_THAT(refused, IsError(ErrorCode::kResponseTooLong));
  options.max_response = 5000;
  EXPECT_TRUE(connect(options)->call(get("/"), kGenerous, {}).ok());
}

TEST(Transport, RefreshesTheTokenOnceAfterUnauthorized) {
  int requests = 0;
  const auto server = start(tls_options(), [&](const Request& request, const Peer&) {
    ++requests;
    const std::string* token = find_header(request.headers, "authorization");
    return text_reply(token != nullptr && *token == "Bearer new" ? 200 : 401, "");
  });
  TransportOptions options = transport_options(*server);
  int refreshed = 0;
  std::string token = "old";
  options.bearer = [&](bool refresh) -> Result<std::optional<std::string>> {
    if (refresh) {
      ++refreshed;
      token = "new";
    }
    return std::optional<std::string>(token);
  };
  EXPECT_EQ(connect(options)->call(get("/"), kGenerous, {}).value().status, 200);
  EXPECT_EQ(refreshed, 1);
  EXPECT_EQ(requests, 2);
}

TEST(Transport, ReturnsTheSecondUnauthorized) {
  std::atomic<int> requests = 0;
  const auto server = start_counting(requests, 401);
  TransportOptions options = transport_options(*server);
  options.bearer = [](bool) -> Result<std::optional<std::string>> { return std::optional<std::string>("bad"); };
  EXPECT_EQ(connect(options)->call(get("/"), kGenerous, {}).value().status, 401);
  EXPECT_EQ(requests, 2);
}

TEST(Transport, ReportsAFailureToGetAToken) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) { return text_reply(200, ""); });
  TransportOptions options = transport_options(*server);
  options.bearer = [](bool) -> Result<std::optional<std::string>> {
    return Error(ErrorCode::kUnauthorized, "no token");
  };
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnauthorized));
}

TEST(Transport, LimitsRequestsInFlight) {
  std::atomic<int> in_flight = 0;
  std::atomic<int> max_in_flight = 0;
  ServerOptions server_options = tls_options();
  server_options.threads = 8;
  const auto server = start(server_options, [&](const Request&, const Peer&) {
    const int current = ++in_flight;
    int seen = max_in_flight;
    while (current > seen && !max_in_flight.compare_exchange_weak(seen, current)) {
    }
    --in_flight;
    return text_reply(200, "");
  });
  TransportOptions options = transport_options(*server);
  options.max_parallel = 2;
  const auto transport = connect(options);
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] { EXPECT_TRUE(transport->call(get("/"), kGenerous, {}).ok()); });
    }
  }
  EXPECT_LE(max_in_flight, 2);
}

TEST(Transport, MeasuresRequestsInFlightAndTheirLimit) {
  Gate entered;
  Gate release;
  const auto server = start_gated(entered, release);
  Metrics metrics;
  TransportOptions options = transport_options(*server);
  options.max_parallel = 3;
  options.metrics = &metrics;
  options.client_name = "controllers";
  {
    const auto transport = connect(options);
    std::jthread first([&] { static_cast<void>(transport->call(get("/"), kGenerous, {})); });
    ASSERT_TRUE(entered.wait());
    EXPECT_THAT(metrics.scrape(),
                ::testing::HasSubstr("tpuslice_api_client_requests_in_flight{client=\"controllers\"} 1\n"));
    release.open();
  }
  EXPECT_THAT(metrics.scrape(),
              ::testing::HasSubstr("tpuslice_api_client_requests_in_flight_limit{client=\"controllers\"} 3\n"));
  EXPECT_THAT(metrics.scrape(),
              ::testing::HasSubstr("tpuslice_api_client_wait_seconds_count{client=\"controllers\"} 1\n"));
}

TEST(Transport, TimesOutWhileItWaitsForItsTurn) {
  Gate entered;
  Gate release;
  const auto server = start_gated(entered, release);
  TransportOptions options = transport_options(*server);
  options.max_parallel = 1;
  const auto transport = connect(options);
  std::jthread first([&] { static_cast<void>(transport->call(get("/"), kGenerous, {})); });
  ASSERT_TRUE(entered.wait());
  const auto second = transport->call(get("/"), std::chrono::milliseconds(50), {});
  release.open();
  EXPECT_THAT(second, IsError(ErrorCode::kTimeout));
}

/// Regression: a request that was cancelled counted as one that had waited until its deadline.
TEST(Transport, MeasuresHowLongACancelledRequestWaited) {
  Gate entered;
  Gate release;
  const auto server = start_gated(entered, release);
  Metrics metrics;
  TransportOptions options = transport_options(*server);
  options.max_parallel = 1;
  options.metrics = &metrics;
  const auto transport = connect(options);
  std::jthread first([&] { static_cast<void>(transport->call(get("/"), kGenerous, {})); });
  ASSERT_TRUE(entered.wait());
  std::stop_source stop;
  stop.request_stop();
  const auto cancelled = transport->call(get("/"), std::chrono::hours(1), stop.get_token());
  release.open();
  EXPECT_THAT(cancelled, IsError(ErrorCode::kCancelled));
  EXPECT_THAT(metrics.scrape(), HasSubstr("tpuslice_api_client_wait_seconds_bucket{client=\"\",le=\"10\"} 2\n"));
}

constexpr std::string_view kKeepAliveReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(Transport, RetriesAGetOnAClosedConnection) {
  RawServer server([&](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, kKeepAliveReply);  // Then closes the connection, despite keep-alive.
  });
  const auto transport = connect(plain_to(server.port()));
  for (int i = 0; i < 5; ++i) {
    const auto response = transport->call(get("/"), kGenerous, {});
    ASSERT_TRUE(response.ok()) << response.error().message();
    EXPECT_EQ(response->body, "ok");
  }
}

TEST(Transport, ReportsABrokenConnection) {
  RawServer server([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
  });
  const auto response = connect(plain_to(server.port()))->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
}

TEST(Transport, DoesNotRetryAPostThatMayHaveBeenProcessed) {
  std::atomic<int> requests = 0;
  RawServer server([&](int fd, int) {
    if (!RawServer::read_head(fd).empty()) ++requests;
  });
  Request request = get("/");
  request.method = "POST";
  request.body = "{}";
  const auto response = connect(plain_to(server.port()))->call(request, kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(requests, 1);
}

TEST(Transport, ReportsARefusedConnection) {
  int port = 0;
  {
    port = RawServer([](int, int) {}).port();
  }
  const auto response = connect(plain_to(port))->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
}

TEST(Transport, ConnectsToAnIpv6Address) {
  ServerOptions options = plain_options();
  options.address = "[::1]:0";
  std::string host;
  const auto server = Server::start(options, kRealClock, [&](const Request& request, const Peer&) {
    host = *find_header(request.headers, "host");
    return text_reply(200, "ok");
  });
  const int port = server ? (*server)->port() : 1;  // Without IPv6 on this machine there is no server.
  TransportOptions to;
  to.server = fmt::format("http://[::1]:{}", port);
  const auto response = connect(to)->call(get("/"), kGenerous, {});
  if (!server) {
    EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
    return;
  }
  EXPECT_EQ(response.value().body, "ok");
  EXPECT_EQ(host, fmt::format("[::1]:{}", port));
}

TEST(Transport, SendsItsCredentialsToAProxy) {
  std::string head;
  RawServer proxy([&](int fd, int) {
    head = RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  });
  TransportOptions options;
  options.server = "http://cluster.example:8080";
  options.proxy_url = fmt::format("http://me:secret@127.0.0.1:{}", proxy.port());
  EXPECT_EQ(connect(options)->call(get("/version"), kGenerous, {}).value().body, "ok");
  EXPECT_THAT(head, StartsWith("GET http://cluster.example:8080/version HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
}

TEST(Transport, RefusesBytesOfAProxyBeforeTls) {
  RawServer proxy([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
  });
  TransportOptions options;
  options.server = "https://cluster.example:6443";
  options.ca = pki().authority.certificate_chain;
  options.proxy_url = fmt::format("http://127.0.0.1:{}", proxy.port());
  const auto response = connect(options)->call(get("/version"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable, HasSubstr("sent bytes before TLS")));
}

TEST(Transport, ConnectsToTlsServersThroughATunnel) {
  std::string head;
  RawServer proxy([&](int fd, int) {
    head = RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  TransportOptions options;
  options.server = "https://cluster.example:6443";
  options.ca = pki().authority.certificate_chain;
  options.proxy_url = fmt::format("http://127.0.0.1:{}", proxy.port());
  const auto response = connect(options)->call(get("/version"), kGenerous, {});
  EXPECT_TRUE(!response.ok() || response->status == 403);
  EXPECT_THAT(head, StartsWith("CONNECT cluster.example:6443 HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace tpuslice::http::testing
