#include "api/http/server/server.h"

#include <atomic>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/eventually.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using tpuslice::testing::eventually;
using tpuslice::testing::Feed;

Reply echo(const Request& request, const Peer& /*peer*/) {
  return text_reply(200, request.method + " " + request.target + " " + request.body);
}

TEST(Server, AnswersSeveralRequestsOnOneConnection) {
  const auto server = start(plain_options(), echo);
  RawClient client(server->port());
  client.send("GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.read_until("GET /one "), StartsWith("HTTP/1.1 200 OK\r\n"));
  client.send("POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_THAT(client.read_until("POST /two body"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  const auto server = start(plain_options(), echo);
  RawClient client(server->port());
  client.send("GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_LT(all.find("GET /one"), all.find("GET /two"));
  EXPECT_NE(all.find("GET /two"), std::string::npos);
}

TEST(Server, SendsContinueToClientsThatExpectIt) {
  const auto server = start(plain_options(), echo);
  RawClient client(server->port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue\r\n"));
  client.send("body");
  EXPECT_THAT(client.read_until("POST /a body"), HasSubstr("200 OK"));
}

TEST(Server, ReadsChunkedBodies) {
  const auto server = start(plain_options(), echo);
  RawClient client(server->port());
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_THAT(client.read_until("POST /a abcde"), HasSubstr("POST /a abcde"));
}

TEST(Server, AnswersHeadWithoutABody) {
  const auto server = start(plain_options(), echo);
  RawClient client(server->port());
  client.send("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_THAT(all, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_TRUE(all.ends_with("\r\n\r\n")) << all;
}

TEST(Server, DoesNotSendTheTextOfAnException) {
  const auto server =
      start(plain_options(), [](const Request&, const Peer&) -> Reply { throw std::runtime_error("secret"); });
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_THAT(all, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(all, Not(HasSubstr("secret")));
}

TEST(Server, DropsHeadersThatWouldSplitTheReply) {
  const auto server = start(plain_options(), [](const Request&, const Peer&) {
    Reply reply = text_reply(200, "body");
    reply.response.headers = {{"X-Bad", "a\r\nX-Injected: b"}, {"Content-Length", "1000"}, {"X-Good", "c"}};
    return reply;
  });
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_THAT(all, Not(HasSubstr("X-Injected")));
  EXPECT_THAT(all, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(all, HasSubstr("X-Good: c\r\n"));
}

TEST(Server, FinishesRequestsInFlightWhenItStops) {
  Gate entered;
  Gate release;
  const auto server = start(ServerOptions{.drain = kGenerous}, [&](const Request&, const Peer&) {
    entered.open();
    release.wait();
    return text_reply(200, "whole");
  });
  RawClient busy(server->port());
  busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(entered.wait());
  std::jthread stopping([&] { server->stop(); });
  release.open();
  const std::string all = busy.read_all();
  EXPECT_THAT(all, HasSubstr("whole"));
  stopping.join();
}

TEST(Server, ClosesIdleConnectionsWhenItStops) {
  const auto server = start(ServerOptions{.drain = kGenerous}, echo);
  RawClient client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("GET / ");
  server->stop();
  EXPECT_EQ(client.read_all(), "");
}

TEST(Server, FreesItsPortWhenItStops) {
  std::vector<std::unique_ptr<Server>> stopped;
  for (int i = 0; i < 200; ++i) {
    const std::string port = i == 0 ? "0" : fmt::to_string(stopped.back()->port());
    auto server = Server::start(ServerOptions{.address = "127.0.0.1:" + port}, kRealClock, echo);
    ASSERT_TRUE(server.ok()) << i << ": " << server.error().message();
    (*server)->stop();
    stopped.push_back(std::move(*server));
  }
}

TEST(Server, ReportsWhyItCannotListen) {
  const auto first = start(plain_options(), echo);
  const auto busy =
      Server::start(ServerOptions{.address = fmt::format("127.0.0.1:{}", first->port())}, kRealClock, echo);
  EXPECT_THAT(busy, IsError(ErrorCode::kUnavailable));
  for (const char* address : {"", "127.0.0.1", "nonsense:80", "127.0.0.1:x", "127.0.0.1:70000"}) {
    const auto bad = Server::start(ServerOptions{.address = address}, kRealClock, echo);
    EXPECT_THAT(bad, IsError(ErrorCode::kInvalidArgument)) << address;
  }
}

TEST(Server, ShowsTheIpv4AddressOfAClientOfADualStackListener) {
  const auto server = Server::start(ServerOptions{.address = "[::ffff:127.0.0.1]:0"}, kRealClock,
                                    [](const Request&, const Peer& peer) { return text_reply(200, peer.address); });
  if (!server) GTEST_SKIP() << server.error().message();
  RawClient client((*server)->port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), HasSubstr("\r\n\r\n127.0.0.1:"));
}

TEST(Server, KeepsIdleConnectionsLongerThanGoClientsDo) {
  EXPECT_GT(ServerOptions().idle_timeout, std::chrono::seconds(90)) << "http.DefaultTransport.IdleConnTimeout";
}

TEST(Server, RefusesConnectionsWhileTheHandlersOfAllOthersRun) {
  Gate entered;
  Gate release;
  const auto server = start(ServerOptions{.max_connections = 1}, [&](const Request&, const Peer&) {
    entered.open();
    release.wait();
    return text_reply(200, "whole");
  });
  RawClient first(server->port());
  first.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  ASSERT_TRUE(entered.wait());
  RawClient second(server->port());
  EXPECT_EQ(second.read_all(), "");
  release.open();
  EXPECT_THAT(first.read_all(), HasSubstr("whole"));
}

TEST(Server, SendsAStreamInChunks) {
  const auto feed = std::make_shared<Feed>();
  const auto server = start(plain_options(), [feed](const Request&, const Peer&) { return stream_reply(feed); });
  RawClient client(server->port());
  client.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  feed->put("first\n");
  EXPECT_EQ(client.read_until("first\n\r\n"), "6\r\nfirst\n\r\n");
  feed->put("second\n");
  EXPECT_EQ(client.read_until("second\n\r\n"), "7\r\nsecond\n\r\n");
  feed->end();
  EXPECT_EQ(client.read_all(), "0\r\n\r\n");
}

TEST(Server, ClosesTheConnectionOfAFailedStream) {
  const auto feed = std::make_shared<Feed>();
  const auto server = start(plain_options(), [feed](const Request&, const Peer&) { return stream_reply(feed); });
  RawClient client(server->port());
  client.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("\r\n\r\n");
  feed->fail(Error::unavailable("broken"));
  EXPECT_EQ(client.read_all(), "");
}

TEST(Server, ClosesAStreamWhoseClientDisconnects) {
  const auto feed = std::make_shared<Feed>();
  const auto server = start(plain_options(), [feed](const Request&, const Peer&) { return stream_reply(feed); });
  {
    RawClient client(server->port());
    client.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_until("\r\n\r\n");
  }
  EXPECT_TRUE(eventually([&] { return feed->closed(); }));
}

TEST(Server, EndsStreamsProperlyWhenItStops) {
  const auto feed = std::make_shared<Feed>();
  const auto server =
      start(ServerOptions{.drain = kGenerous}, [feed](const Request&, const Peer&) { return stream_reply(feed); });
  RawClient client(server->port());
  client.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("\r\n\r\n");
  server->stop();
  EXPECT_EQ(client.read_all(), "0\r\n\r\n");
}

TEST(Server, RefusesStreamsOverItsLimit) {
  const auto feed = std::make_shared<Feed>();
  const auto server =
      start(ServerOptions{.max_streams = 1}, [feed](const Request&, const Peer&) { return stream_reply(feed); });
  RawClient first(server->port());
  first.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  first.read_until("\r\n\r\n");
  RawClient second(server->port());
  second.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string all = second.read_all();
  EXPECT_THAT(all, StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(all, HasSubstr("Retry-After: 1\r\n"));
}

TEST(Server, ServesRequestsWhileStreamsAreOpen) {
  const auto feed = std::make_shared<Feed>();
  const auto server = start(ServerOptions{.threads = 1}, [feed](const Request& request, const Peer& peer) {
    return request.target == "/watch" ? stream_reply(feed) : echo(request, peer);
  });
  RawClient watching(server->port());
  watching.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
  watching.read_until("\r\n\r\n");
  RawClient client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.read_until("GET /a "), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace tpuslice::http::testing
