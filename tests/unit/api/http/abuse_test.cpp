// The server under malformed, oversized and slow requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The server still serves other clients.
void expect_alive(const Server& server) {
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200 OK"));
}

struct Attack {
  const char* name;
  std::string bytes;
  const char* reply;  ///< Its first characters.
};

class ServerUnderAttack : public ::testing::TestWithParam<Attack> {};

TEST_P(ServerUnderAttack, RefusesAndContinues) {
  ServerOptions options = plain_options();
  options.body_limit = 1000;
  options.header_limit = 4096;
  const auto server = start(options, ok);
  RawClient client(server->port());
  client.send(GetParam().bytes);
  EXPECT_THAT(client.read_all(), StartsWith(GetParam().reply));
  expect_alive(*server);
}

const std::string kPost = "POST / HTTP/1.1\r\nHost: a\r\n";

INSTANTIATE_TEST_SUITE_P(
    Attacks, ServerUnderAttack,
    ::testing::Values(
        Attack{"NegativeChunk", kPost + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "HTTP/1.1 400"},
        Attack{"HugeChunk", kPost + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "HTTP/1.1 400"},
        Attack{"NegativeLength", kPost + "Content-Length: -5\r\n\r\n", "HTTP/1.1 400"},
        Attack{"Garbage", "\x01\x02\x03 nonsense\r\n\r\n", "HTTP/1.1 400"},
        Attack{"TlsHello", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), "HTTP/1.1 400"},
        Attack{"BigHeader", "GET / HTTP/1.1\r\nA: " + std::string(8000, 'a'), "HTTP/1.1 431"},
        Attack{"BigBody", kPost + "Content-Length: 100000000\r\n\r\n", "HTTP/1.1 413"},
        Attack{"EndlessBody", kPost + "Transfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'a') + "\r\n",
               "HTTP/1.1 413"},
        Attack{"BothLengths", kPost + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               "HTTP/1.1 400"}),
    [](const auto& each) { return std::string(each.param.name); });

/// The server closes the connection of a client that sends too slowly.
class SlowClient : public ::testing::TestWithParam<Attack> {};

TEST_P(SlowClient, IsDropped) {
  ServerOptions options = plain_options();
  options.read_timeout = options.idle_timeout = std::chrono::milliseconds(150);
  const auto server = start(options, ok);
  RawClient client(server->port());
  client.send(GetParam().bytes);
  EXPECT_EQ(client.read_all(), "");
  expect_alive(*server);
}

INSTANTIATE_TEST_SUITE_P(Slow, SlowClient,
                         ::testing::Values(Attack{"Silent", "", ""}, Attack{"HalfAHeader", "GET / HT", ""},
                                           Attack{"HalfABody", kPost + "Content-Length: 10\r\n\r\nabc", ""}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Server, ClosesEachConnectionAfterItsReplyOnceKeepAliveIsStopped) {
  const auto server = start(plain_options(), ok);
  RawClient open(server->port());
  open.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(open.read_until("fine"), StartsWith("HTTP/1.1 200 OK"));
  server->stop_keep_alive();
  open.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(open.read_all(), HasSubstr("Connection: close"));
  expect_alive(*server);
}

TEST(ServerLimits, CloseTheConnectionThatIsIdleForTheLongestTime) {
  ServerOptions options = plain_options();
  options.max_connections_per_peer = 1;
  const auto server = start(options, ok);
  RawClient idle(server->port());
  RawClient later(server->port());
  EXPECT_EQ(idle.read_all(), "");
  later.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(later.read_all(), StartsWith("HTTP/1.1 200 OK"));
}

TEST(ServerLimits, DropASlowBodyWhenAnotherWaits) {
  ServerOptions options = plain_options();
  options.body_limit = 1000;
  options.body_budget = 4000;
  options.small_message = 100;
  options.slow_transfer = std::chrono::milliseconds(50);
  const auto server = start(options, ok);
  RawClient slow(server->port());
  slow.send(kPost + "Content-Length: 1000\r\n\r\nabc");
  RawClient quick(server->port());
  quick.send(kPost + "Connection: close\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'a'));
  EXPECT_THAT(quick.read_all(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(slow.read_all(), "");
}

TEST(ServerLimits, AnswerARequestThatWaitsTooLongForItsHandler) {
  FakeClock clock;
  Gate entered;
  Gate release;
  ServerOptions options = plain_options();
  options.threads = 1;
  options.wait_timeout = std::chrono::hours(1);
  options.slow_transfer = std::chrono::milliseconds(50);  // The request looks at the clock every 5 ms.
  const auto handler = [&](const Request&, const Peer&) {
    entered.open();
    release.wait();
    return text_reply(200, "fine");
  };
  const auto server = start(options, handler, clock);
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  RawClient first(server->port());
  first.send(request);
  EXPECT_TRUE(entered.wait());
  RawClient second(server->port());
  second.send(request);
  {
    // It is not known when the request begins to wait.
    const std::jthread time([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); pause(std::chrono::milliseconds(1), stop)) clock.advance(std::chrono::minutes(1));
    });
    EXPECT_THAT(second.read_all(), StartsWith("HTTP/1.1 503"));
  }
  release.open();
  EXPECT_THAT(first.read_all(), StartsWith("HTTP/1.1 200 OK"));
}

TEST(TlsServerUnderAttack, ClosesAConnectionWithoutAHandshake) {
  ServerOptions options = tls_options();
  options.handshake_timeout = std::chrono::milliseconds(150);
  const auto server = start(options, ok);
  RawClient client(server->port());
  EXPECT_EQ(client.read_all(), "");
}

TEST(TlsServerUnderAttack, LeaksNoDescriptors) {
  const auto server = start(tls_options(), ok);
  const auto transport = connect(transport_options(*server));
  ASSERT_TRUE(transport->call(get("/"), kGenerous, {}).ok());
  const int before = open_descriptors();
  for (int i = 0; i < 150; ++i) {
    RawClient client(server->port());
    if (i % 3 == 1) client.send("\x16\x03\x01");
    if (i % 3 == 2) client.reset();
  }
  // Each call gives the server time to notice the closed connections.
  int after = open_descriptors();
  constexpr int kOwnConnections = 20;  // Both ends of the connections that the transport keeps open.
  for (int i = 0; i < 500 && after > before + kOwnConnections; ++i) {
    const auto response = transport->call(get("/"), kGenerous, {});
    ASSERT_TRUE(response.ok()) << response.error().message();
    after = open_descriptors();
  }
  EXPECT_LE(after, before + kOwnConnections);
}

TEST(TlsServerUnderAttack, SurvivesGarbageInsteadOfAHandshake) {
  const auto server = start(tls_options(), ok);
  for (int i = 0; i < 20; ++i) {
    RawClient client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_all();
  }
  EXPECT_EQ(connect(transport_options(*server))->call(get("/"), kGenerous, {}).value().body, "fine");
}

}  // namespace
}  // namespace tpuslice::http::testing
