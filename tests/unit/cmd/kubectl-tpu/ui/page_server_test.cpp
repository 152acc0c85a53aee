#include "cmd/kubectl-tpu/ui/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/client/network_transport.h"
#include "api/http/testing/plain_get.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr std::uint16_t kPort = 4321;
constexpr Duration kLimit = std::chrono::seconds(20);

Json empty_fleet() {
  return {{"schema", "tpuslice.dev/fleet.v1"},
          {"time", "2026-01-01T00:00:00Z"},
          {"pools", Json::array()},
          {"slices", Json::array()}};
}

PageSource whole_source() {
  PageSource source;
  source.fleet = []() -> Result<Json> { return empty_fleet(); };
  source.history = []() -> Result<Json> { return Json{{"records", Json::array()}}; };
  source.what_if = [](const std::vector<std::pair<std::string, std::string>>& changes) -> Result<Json> {
    Json lines = Json::array();
    for (const auto& [verb, object] : changes) lines.push_back(verb + " " + object);
    return Json{{"lines", lines}};
  };
  source.object = [](const std::string& kind, const ObjectKey& key) -> Result<Json> {
    if (kind != "JobSet") return Error::invalid_argument("kind {}", kind);
    return Json{{"yaml", key.to_string()}};
  };
  return source;
}

class PageHandlerTest : public ::testing::Test {
 protected:
  explicit PageHandlerTest(PageSource source = whole_source())
      : handler_(std::move(source), {.command = "kubectl tpu --context c"}, secrets_, clock_) {}

  /// With the cookie of a session.
  [[nodiscard]] http::Reply ask(const std::string& path, const std::string& method = "GET", http::Headers more = {},
                                const std::string& body = "") const {
    more.emplace_back("Host", "127.0.0.1:4321");
    more.emplace_back("Cookie", "tpu-fleet=cookie");
    return handler_.answer({.method = method, .target = "/path/" + path, .headers = std::move(more), .body = body},
                           kPort);
  }
  [[nodiscard]] int status(const std::string& path, const std::string& method = "GET", http::Headers more = {},
                           const std::string& body = "") const {
    return ask(path, method, std::move(more), body).response.status;
  }
  [[nodiscard]] int status_of(const std::string& target, const http::Headers& headers) const {
    return handler_.answer({.target = target, .headers = headers}, kPort).response.status;
  }

  const PageSecrets secrets_ = {"path", "token", "cookie"};
  FakeClock clock_;
  PageHandler handler_;
};

TEST_F(PageHandlerTest, ServesThePageAndItsFiles) {
  const http::Reply page = ask("");
  EXPECT_EQ(page.response.status, 200);
  EXPECT_THAT(page.response.body, StartsWith("<!doctype html>"));
  EXPECT_EQ(*http::find_header(page.response.headers, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(*http::find_header(ask("main.js").response.headers, "Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(status("style.css"), 200);
  EXPECT_EQ(status("none.js"), 404);
  EXPECT_EQ(status("../main.js"), 404);
}

TEST_F(PageHandlerTest, KnowsNoPathButItsOwn) {
  const http::Headers host = {{"Host", "127.0.0.1:4321"}, {"Cookie", "tpu-fleet=cookie"}};
  for (const char* target :
       {"/", "/index.html", "/pat/", "/path", "/patt/fleet/v1/snapshot", "", "/fleet/v1/snapshot"}) {
    EXPECT_EQ(status_of(target, host), 404) << target;
  }
  EXPECT_EQ(status_of("/path/fleet/v1/snapshot", host), 200);
}

TEST_F(PageHandlerTest, ExchangesTheTokenForACookie) {
  const http::Reply session = ask("session", "POST", {}, "token");
  EXPECT_EQ(session.response.status, 204);
  EXPECT_THAT(*http::find_header(session.response.headers, "Set-Cookie"), StartsWith("tpu-fleet=cookie; Path=/path/;"));
  const http::Reply wrong = ask("session", "POST", {}, "toke");
  EXPECT_EQ(wrong.response.status, 401);
  EXPECT_EQ(http::find_header(wrong.response.headers, "Set-Cookie"), nullptr);
  EXPECT_EQ(status("session", "GET"), 405);
  EXPECT_EQ(status("session", "POST", {{"Origin", "http://127.0.0.1:80"}}, "token"), 403);
}

TEST_F(PageHandlerTest, RefusesDataWithoutASession) {
  const http::Headers host = {{"Host", "127.0.0.1:4321"}};
  for (const char* path : {"config", "fleet/v1/snapshot", "fleet/v1/watch", "fleet/v1/history",
                           "fleet/v1/what-if?drain=x", "fleet/v1/object?kind=JobSet&namespace=ml&name=train"}) {
    EXPECT_EQ(status_of(std::string("/path/") + path, host), 401) << path;
    EXPECT_EQ(status(path), 200) << path;
    EXPECT_EQ(status(path, "GET", {{"Sec-Fetch-Site", "same-site"}}), 403) << path;
  }
}

TEST_F(PageHandlerTest, RefusesOtherHostsFirst) {
  EXPECT_EQ(status_of("/path/", {{"Host", "evil.example:4321"}}), 421);
  EXPECT_EQ(status_of("/path/fleet/v1/snapshot", {{"Host", "evil.example:4321"}, {"Cookie", "tpu-fleet=cookie"}}), 421);
}

TEST_F(PageHandlerTest, OnlyReads) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(status("", method), 405) << method;
    EXPECT_EQ(status("fleet/v1/snapshot", method), 405) << method;
    EXPECT_EQ(*http::find_header(ask("config", method).response.headers, "Allow"), "GET, HEAD") << method;
  }
  EXPECT_EQ(status("fleet/v1/snapshot", "HEAD"), 200);
}

TEST_F(PageHandlerTest, EveryAnswerHasThePolicy) {
  for (const char* path : {"", "main.js", "none", "config", "fleet/v1/snapshot"}) {
    EXPECT_NE(http::find_header(ask(path).response.headers, "Content-Security-Policy"), nullptr) << path;
  }
  EXPECT_NE(http::find_header(ask("session").response.headers, "Content-Security-Policy"), nullptr);
}

TEST_F(PageHandlerTest, ServesTheFleetItsHistoryAndWhatWouldBe) {
  EXPECT_EQ(parse_json(ask("fleet/v1/snapshot").response.body).value(), empty_fleet());
  EXPECT_EQ(parse_json(ask("fleet/v1/history").response.body).value(), (Json{{"records", Json::array()}}));
  EXPECT_EQ(parse_json(ask("fleet/v1/what-if?drain=pool%2Fa&drain=pool%2Fb").response.body).value(),
            (Json{{"lines", {"drain pool/a", "drain pool/b"}}}));
  std::string many = "fleet/v1/what-if?";
  for (int i = 0; i < 51; ++i) many += "drain=pool/a&";
  EXPECT_EQ(status(many), 400);
  EXPECT_EQ(parse_json(ask("config").response.body).value(), (Json{{"live", true},
                                                                   {"history", true},
                                                                   {"whatIf", true},
                                                                   {"object", true},
                                                                   {"command", "kubectl tpu --context c"}}));
}

TEST_F(PageHandlerTest, ServesTheObjectOfAWorkload) {
  EXPECT_EQ(parse_json(ask("fleet/v1/object?kind=JobSet&namespace=ml&name=train").response.body).value(),
            (Json{{"yaml", "ml/train"}}));
  EXPECT_EQ(status("fleet/v1/object?kind=JobSet&name=train"), 400);
  EXPECT_EQ(status("fleet/v1/object?kind=JobSet&namespace=ml"), 400);
  EXPECT_EQ(status("fleet/v1/object?kind=Secret&namespace=ml&name=train"), 502);
}

TEST_F(PageHandlerTest, StreamsTheFleet) {
  http::Reply reply = ask("fleet/v1/watch");
  ASSERT_NE(reply.stream, nullptr);
  EXPECT_EQ(*http::find_header(reply.response.headers, "Content-Type"), "text/event-stream");
  EXPECT_THAT(reply.stream->read(Duration::zero(), {}).value(), StartsWith("event: fleet\ndata: {"));
  EXPECT_EQ(ask("fleet/v1/watch", "HEAD").stream, nullptr);
}

class PoorPageHandlerTest : public PageHandlerTest {
 protected:
  PoorPageHandlerTest()
      : PageHandlerTest({.fleet = []() -> Result<Json> { return Error::unavailable("{}", std::string(5000, 'x')); },
                         .live = false}) {}
};

TEST_F(PoorPageHandlerTest, SaysWhatThereIsNot) {
  EXPECT_EQ(parse_json(ask("config").response.body).value(), (Json{{"live", false},
                                                                   {"history", false},
                                                                   {"whatIf", false},
                                                                   {"object", false},
                                                                   {"command", "kubectl tpu --context c"}}));
  EXPECT_EQ(status("fleet/v1/history"), 404);
  EXPECT_EQ(status("fleet/v1/what-if?drain=pool/a"), 404);
  EXPECT_EQ(status("fleet/v1/object?kind=JobSet&namespace=ml&name=train"), 404);
}

TEST_F(PoorPageHandlerTest, SaysWhyTheFleetCannotBeReadInBoundedLength) {
  const http::Reply reply = ask("fleet/v1/snapshot");
  EXPECT_EQ(reply.response.status, 502);
  EXPECT_LT(reply.response.body.size(), 1100U);
}

// Over sockets, with a client that shares no code with the server.
TEST(PageServer, ServesOnLoopbackOnly) {
  const RealClock clock;
  const auto server = PageServer::start(whole_source(), {}, clock).value();
  const std::string url = server->url();
  const std::string authority = "127.0.0.1:" + std::to_string(server->port());
  ASSERT_THAT(url, StartsWith("http://" + authority + "/"));
  const std::string path = url.substr(url.find(authority) + authority.size());
  const auto page = http::plain_get(server->port(), path.substr(0, path.find('#')), kLimit);
  ASSERT_TRUE(page.ok()) << page.error().message();
  EXPECT_EQ(page->status, 200);
  EXPECT_THAT(page->body, HasSubstr("TPU fleet"));
  EXPECT_EQ(http::plain_get(server->port(), "/", kLimit)->status, 404);
}

TEST(PageServer, HasABoundForStreams) {
  const RealClock clock;
  const auto server = PageServer::start(whole_source(), {}, clock).value();
  const std::string url = server->url();
  const std::string base = url.substr(0, url.find('#'));
  const std::string path = base.substr(base.find('/', 8));
  const auto transport =
      http::make_network_transport({.server = "http://127.0.0.1:" + std::to_string(server->port())}).value();
  http::Request exchange{.method = "POST", .target = path + "session", .body = url.substr(url.find('=') + 1)};
  const auto session = transport->call(exchange, kLimit, {});
  ASSERT_TRUE(session.ok()) << session.error().message();
  ASSERT_EQ(session->status, 204) << session->body;
  const std::string cookie = *http::find_header(session->headers, "Set-Cookie");
  http::Request watch{.target = path + "fleet/v1/watch", .headers = {{"Cookie", cookie.substr(0, cookie.find(';'))}}};
  std::vector<std::unique_ptr<http::Stream>> streams;
  std::map<int, int> statuses;
  for (int i = 0; i < 18; ++i) {
    auto stream = transport->open(watch, kLimit, {});
    ASSERT_TRUE(stream.ok()) << stream.error().message();
    ++statuses[(*stream)->status()];
    streams.push_back(*std::move(stream));
  }
  EXPECT_THAT(statuses, ElementsAre(Pair(200, 16), Pair(429, 2)));
}

TEST(PageServer, RefusesLongBodies) {
  const RealClock clock;
  const auto server = PageServer::start(whole_source(), {}, clock).value();
  const auto transport =
      http::make_network_transport({.server = "http://127.0.0.1:" + std::to_string(server->port())}).value();
  const http::Request request{.method = "POST", .target = "/session", .body = std::string(2000, 'x')};
  const auto response = transport->call(request, kLimit, {});
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 413);
}

TEST(PageServer, SaysThatAPortIsInUse) {
  const RealClock clock;
  const auto first = PageServer::start(whole_source(), {}, clock).value();
  EXPECT_THAT(PageServer::start(whole_source(), {.port = first->port()}, clock), IsError(ErrorCode::kUnavailable));
}

}  // namespace
}  // namespace tpuslice::plugin
