// Unary calls in detail: forms of replies, reuse of connections, requests that must not be sent.
#include <sys/socket.h>

#include <array>
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::unique_ptr<Transport> connect_to(const RawServer& server) {
  TransportOptions options;
  options.server = fmt::format("http://127.0.0.1:{}", server.port());
  return connect(options);
}

Request post(std::string body) {
  Request request = get("/");
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

// A write that was given up must not reach the server afterwards: another replica may lead by then.
TEST(Call, AWriteWithoutAnAnswerIsNotDeliveredAfterItsDeadline) {
  constexpr std::size_t kBody = 512U << 10U;
  Gate given_up;
  std::atomic<std::size_t> received = 0;
  {
    RawServer server(
        [&](int fd, int) {
          // The kernel takes little, as of a network that is broken; the client has written all to its own.
          given_up.wait();
          std::array<char, 4096> buffer{};
          for (ssize_t size = 1; size > 0;) {
            size = ::recv(fd, buffer.data(), buffer.size(), 0);
            if (size > 0) received += static_cast<std::size_t>(size);
          }
        },
        4096);
    const auto response = connect_to(server)->call(post(std::string(kBody, 'x')), std::chrono::milliseconds(200), {});
    given_up.open();
    EXPECT_THAT(response, IsError(ErrorCode::kTimeout));
  }
  EXPECT_LT(received, kBody);
}

struct RawReply {
  const char* name;
  std::string text;
  std::string body;
};

class CallReads : public ::testing::TestWithParam<RawReply> {};

TEST_P(CallReads, TheWholeReply) {
  RawServer server([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, GetParam().text);
  });
  const auto response = connect_to(server)->call(get("/"), kGenerous, {});
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, GetParam().body);
}

/// Sends `begin`, then `more` until the client leaves; counts the bytes in `sent`.
RawServer::Script endless(std::atomic<std::size_t>& sent, std::string begin, std::string more) {
  return [&sent, begin = std::move(begin), more = std::move(more)](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, begin);
    while (sent < (64U << 20U) && ::send(fd, more.data(), more.size(), MSG_NOSIGNAL) > 0) sent += more.size();
  };
}

TEST(Call, AnEndlessHeadIsNotReadOn) {
  std::atomic<std::size_t> sent = 0;
  RawServer server(endless(sent, "HTTP/1.1 200 OK\r\n", "X-Header: " + std::string(4096, 'x') + "\r\n"));
  const auto response = connect_to(server)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
  EXPECT_LT(sent, 32U << 20U) << "what the buffers of the connection hold";
}

TEST(Call, AnEndlessChunkExtensionIsNotReadOn) {
  for (const bool streamed : {false, true}) {
    std::atomic<std::size_t> sent = 0;
    RawServer server(
        endless(sent, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=", std::string(4096, 'x')));
    const auto transport = connect_to(server);
    const auto response =
        streamed ? Result<std::string>(transport->open(get("/"), kGenerous, {}).value()->read(kGenerous, {}))
                 : [&]() -> Result<std::string> {
      ASSIGN_OR_RETURN(const Response whole, transport->call(get("/"), kGenerous, {}));
      return whole.body;
    }();
    EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
    EXPECT_LT(sent, 32U << 20U) << "what the buffers of the connection hold";
  }
}

TEST(Call, InterimAnswersWithoutEndAreNotReadOn) {
  std::atomic<std::size_t> sent = 0;
  RawServer server(endless(sent, "", "HTTP/1.1 100 Continue\r\n\r\n"));
  const auto response = connect_to(server)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
}

TEST(Call, EndsAtItsDeadlineThoughBytesArrive) {
  RawServer server([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "1;x=" + std::string(4096, 'x') + "\r\ny\r\n";
    while (::send(fd, chunk.data(), chunk.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  const auto response = connect_to(server)->call(get("/"), std::chrono::milliseconds(300), {});
  EXPECT_THAT(response, IsError(ErrorCode::kTimeout));
}

INSTANTIATE_TEST_SUITE_P(
    Replies, CallReads,
    ::testing::Values(
        RawReply{"Chunked",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n4;x=y\r\ntwo!\r\n0\r\n\r\n",
                 "onetwo!"},
        RawReply{"UntilTheConnectionCloses", "HTTP/1.1 200 OK\r\n\r\nall there is", "all there is"},
        RawReply{"AfterAnInterimReply",
                 "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"},
        RawReply{"Empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
        RawReply{"Http10", "HTTP/1.0 200 OK\r\n\r\nold", "old"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(TransportCall, ReportsAReplyThatIsNotHttp) {
  RawServer server([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "220 mail.example.org ESMTP\r\n");
  });
  const auto response = connect_to(server)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
}

TEST(TransportCall, RefusesCompressedBodiesThatAreDamagedOrTooLarge) {
  std::string body = gzip(std::string(5000, 'a'));
  const auto server = start(tls_options(), [&](const Request&, const Peer&) {
    Reply reply = text_reply(200, body);
    reply.response.headers.emplace_back("Content-Encoding", "gzip");
    return reply;
  });
  TransportOptions options = transport_options(*server);
  options.max_response = 4999;
  const auto transport = connect(options);
  const auto too_large = transport->call(get("/"), kGenerous, {});
  EXPECT_THAT(too_large, IsError(ErrorCode::kResponseTooLong));
  body.resize(body.size() / 2);
  const auto damaged = transport->call(get("/"), kGenerous, {});
  EXPECT_THAT(damaged, IsError(ErrorCode::kUnavailable, HasSubstr("damaged")));
}

TEST(TransportCall, ARequestMayLowerTheLimitOfItsResponse) {
  const auto server =
      start(tls_options(), [&](const Request&, const Peer&) { return text_reply(200, std::string(5000, 'a')); });
  TransportOptions options = transport_options(*server);
  options.max_response = 5000;
  const auto transport = connect(options);
  Request request = get("/");
  request.max_response = 4999;
  const auto too_long = transport->call(request, kGenerous, {});
  EXPECT_THAT(too_long, IsError(ErrorCode::kResponseTooLong, HasSubstr("4999")));
  request.max_response = 6000;
  EXPECT_TRUE(transport->call(request, kGenerous, {}).ok());
}

TEST(TransportCall, RefusesLineBreaksInTargetsAndHeaders) {
  std::atomic<int> requests = 0;
  const auto server = start_counting(requests, 200);
  const auto transport = connect(transport_options(*server));
  Request split = get("/a HTTP/1.1\r\nX: y\r\n\r\nGET /b");
  EXPECT_THAT(transport->call(split, kGenerous, {}), IsError(ErrorCode::kInvalidArgument));
  Request header = get("/");
  header.headers = {{"X-Name", "a\r\nAuthorization: Bearer mine"}};
  EXPECT_THAT(transport->call(header, kGenerous, {}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_EQ(requests, 0);
}

TEST(TransportCall, DoesNotReuseAConnectionThatTheServerClosed) {
  Gate closed;
  std::atomic<int> posts = 0;
  RawServer server([&](int fd, int) {
    if (RawServer::read_head(fd).starts_with("POST")) ++posts;
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    ::shutdown(fd, SHUT_RDWR);  // Despite keep-alive.
    closed.open();
  });
  const auto transport = connect_to(server);
  ASSERT_TRUE(transport->call(get("/"), kGenerous, {}).ok());
  ASSERT_TRUE(closed.wait());
  const auto posted = transport->call(post("{}"), kGenerous, {});
  EXPECT_TRUE(posted.ok()) << posted.error().message();
  EXPECT_EQ(posts, 1);
}

// The server may have acted on it before the connection ended. Clients that repeat any request on a new connection, as
// libcurl does, would create twice.
TEST(TransportCall, SendsAPostOnAKeptConnectionOnce) {
  std::atomic<int> posts = 0;
  RawServer server([&](int fd, int) {
    while (!RawServer::read_head(fd).empty()) {
      if (++posts == 2) return;
      RawServer::write(fd, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const auto transport = connect_to(server);
  ASSERT_TRUE(transport->call(post(""), kGenerous, {}).ok());
  const auto response = transport->call(post(""), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(posts, 2);
}

TEST(TransportCall, SendsNothingAfterStop) {
  std::atomic<int> requests = 0;
  const auto server = start_counting(requests, 200);
  std::stop_source stop;
  stop.request_stop();
  const auto response = connect(transport_options(*server))->call(get("/"), kGenerous, stop.get_token());
  EXPECT_THAT(response, IsError(ErrorCode::kCancelled));
  EXPECT_EQ(requests, 0);
}

TEST(TransportCall, TimesOutWithoutATlsHandshake) {
  Gate release;
  RawServer server([&](int, int) { release.wait(); });
  TransportOptions options;
  options.server = fmt::format("https://127.0.0.1:{}", server.port());
  options.ca = pki().authority.certificate_chain;
  const auto response = connect(options)->call(get("/"), std::chrono::milliseconds(200), {});
  release.open();
  EXPECT_THAT(response, IsError(ErrorCode::kTimeout));
}

TEST(TransportCall, SendsABodyLargerThanAllBuffers) {
  const std::string body(8U << 20U, 'x');
  ServerOptions server_options = tls_options();
  server_options.body_limit = body.size();
  const auto server = start(server_options, [](const Request& request, const Peer&) {
    return text_reply(200, std::to_string(request.body.size()));
  });
  EXPECT_EQ(connect(transport_options(*server))->call(post(body), kGenerous, {}).value().body,
            std::to_string(body.size()));
}

TEST(TransportCall, ReportsAnUnknownHostName) {
  TransportOptions options;
  options.server = "http://no-such-host.invalid:80";
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response,
              IsError(AnyOf(ErrorCode::kUnavailable, ErrorCode::kTimeout), HasSubstr("no-such-host.invalid")));
}

TEST(TransportCall, ReachesAServerThroughATunnel) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) { return text_reply(200, "through"); });
  std::string head;
  RawServer proxy([&](int fd, int) {
    head = RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 Connection established\r\n\r\n");
    relay(fd, server->port());
  });
  TransportOptions options = transport_options(*server);
  options.proxy_url = fmt::format("http://me:secret@127.0.0.1:{}", proxy.port());
  {
    const auto response = connect(options)->call(get("/"), kGenerous, {});
    ASSERT_TRUE(response.ok()) << response.error().message();
    EXPECT_EQ(response->body, "through");
  }
  EXPECT_THAT(head, HasSubstr(fmt::format("CONNECT 127.0.0.1:{} HTTP/1.1\r\n", server->port())));
  EXPECT_THAT(head, HasSubstr("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"));
}

TEST(TransportCall, ReportsAProxyThatRefusesATunnel) {
  RawServer proxy([&](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 6\r\n\r\ndenied");
  });
  TransportOptions options;
  options.server = "https://cluster.example:6443";
  options.ca = pki().authority.certificate_chain;
  options.proxy_url = fmt::format("http://127.0.0.1:{}", proxy.port());
  const auto response = connect(options)->call(get("/"), kGenerous, {});
  EXPECT_THAT(response, IsError(ErrorCode::kUnavailable, HasSubstr("opens no tunnel: status 407")));
}

}  // namespace
}  // namespace tpuslice::http::testing
