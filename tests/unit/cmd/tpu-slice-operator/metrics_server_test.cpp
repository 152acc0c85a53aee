#include "cmd/tpu-slice-operator/metrics_server.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "api/http/client/network_transport.h"
#include "cmd/tpu-slice-operator/process_metrics.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fake_reviews.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice {
namespace {

using testing::FakeReviews;
using ::testing::HasSubstr;

class MetricsServerTest : public ::testing::Test {
 protected:
  MetricsServerTest() {
    reviews_.users = {{"good", "prometheus"}, {"poor", "tenant"}};
    reviews_.readers = {"prometheus"};
    metrics_.counter("a_total", "A.").increment(7);
  }
  void start(MetricsServerOptions options) {
    options.service = "tpu-slice-operator-metrics";
    options.namespace_name = "ours";
    auto server = MetricsServer::start(options, reviews_, clock_, metrics_, {});
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::move(*server);
  }
  /// Without `ca`, any certificate will do.
  Result<http::Response> get(const std::string& token, const std::string& target = "/metrics",
                             const std::string& ca = {}, const std::string& scheme = "https",
                             const std::string& method = "GET", const std::string& host = "127.0.0.1",
                             const std::string& body = {}) {
    http::TransportOptions options;
    options.server = scheme + "://" + host + ":" + std::to_string(server_->port());
    options.ca = ca;
    options.insecure_skip_verify = ca.empty();
    ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(options));
    http::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    return transport->call(request, std::chrono::seconds(20), {});
  }
  int status(const std::string& token, const std::string& target = "/metrics") {
    const auto response = get(token, target);
    return response ? response->status : 0;
  }

  RealClock clock_;
  Metrics metrics_;
  FakeReviews reviews_;
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, ServesAuthorizedClientsByHttps) {
  start({});
  const auto response = get("good");
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_THAT(response->body, HasSubstr("a_total 7"));
  EXPECT_THAT(response->body, HasSubstr("tpuslice_certificate_expiry_timestamp_seconds{server=\"metrics\"}"));
  EXPECT_EQ(status("poor"), 403);
  EXPECT_EQ(status("bad"), 401);
  EXPECT_EQ(status(""), 401);
  const std::string* challenge = http::find_header(get("")->headers, "WWW-Authenticate");
  ASSERT_NE(challenge, nullptr);
}

TEST_F(MetricsServerTest, AppendsWhatIsNotInTheRegistryForAuthorizedClients) {
  int scrapes = 0;
  MetricsServerOptions options;
  options.append = [&scrapes](std::string& text) { text += "b_info{name=\"" + std::to_string(++scrapes) + "\"} 1\n"; };
  start(options);
  EXPECT_EQ(status("poor"), 403);
  const auto response = get("good");
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_THAT(response->body, HasSubstr("a_total 7"));
  EXPECT_TRUE(response->body.ends_with("b_info{name=\"1\"} 1\n")) << response->body;
  EXPECT_EQ(scrapes, 1) << "no work but for a scrape";
}

bool has_ipv6_loopback() {
  std::ifstream addresses("/proc/net/if_inet6");
  std::string address;
  while (addresses >> address) {
    if (address == "00000000000000000000000000000001") return true;
  }
  return false;
}

/// Regression: a port without a host was that of all IPv4 addresses, so the probes of pods with IPv6 addresses failed.
TEST_F(MetricsServerTest, APortWithoutAHostIsThatOfAllIpv6AndIpv4Addresses) {
  start({.address = ":0"});
  const auto over_ipv4 = get("good");
  ASSERT_TRUE(over_ipv4.ok()) << over_ipv4.error().message();
  EXPECT_EQ(over_ipv4->status, 200);
  if (!has_ipv6_loopback()) GTEST_SKIP() << "this machine has no ::1";
  const auto over_ipv6 = get("good", "/metrics", "", "https", "GET", "[::1]");
  ASSERT_TRUE(over_ipv6.ok()) << over_ipv6.error().message();
  EXPECT_EQ(over_ipv6->status, 200);
}

TEST_F(MetricsServerTest, OtherPathsAndMethodsCostNoReview) {
  start({});
  EXPECT_EQ(status("good", "/debug"), 404);
  EXPECT_EQ(get("good", "/metrics", "", "https", "POST")->status, 405);
  EXPECT_EQ(reviews_.count(), 0U);
}

TEST_F(MetricsServerTest, ServesDebugPagesToUsersWhoMayGetTheirPath) {
  MetricsServerOptions options;
  options.pages["/debug/keys"].answer = [](const http::Request& request) {
    return http::Response{200, {}, "keys of " + request.target};
  };
  reviews_.paths = {"/debug/keys"};
  start(options);
  const auto response = get("good", "/debug/keys?namespace=default");
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "keys of /debug/keys?namespace=default");
  EXPECT_EQ(status("poor", "/debug/keys"), 403);
  EXPECT_EQ(status("", "/debug/keys"), 401);
  EXPECT_THAT(get("good", "/debug")->body, HasSubstr("paths are /metrics, /debug/keys"));
}

TEST_F(MetricsServerTest, TakesPutForPagesThatSaySoFromUsersWhoMayPutTheirPath) {
  MetricsServerOptions options;
  const auto answer = [](const http::Request& request) {
    return http::Response{200, {}, request.method + " " + request.body};
  };
  options.pages = {{"/debug/keys", {answer}}, {"/debug/log-level", {answer, true}}};
  reviews_.paths = {"/debug/keys", "/debug/log-level"};
  start(options);
  const auto put = [this](const std::string& token, const std::string& target) {
    return get(token, target, "", "https", "PUT", "127.0.0.1", "debug").value();
  };
  EXPECT_EQ(get("good", "/debug/log-level")->status, 200);
  const http::Response refused = put("good", "/debug/log-level");
  EXPECT_EQ(refused.status, 403) << "may only get it";
  EXPECT_THAT(refused.body, HasSubstr("the ClusterRole tpu-slice-debug-writer allows it"));
  EXPECT_EQ(put("good", "/debug/keys").status, 405);
  EXPECT_EQ(*http::find_header(put("good", "/metrics").headers, "Allow"), "GET");
  const auto deleted = get("good", "/debug/log-level", "", "https", "DELETE");
  EXPECT_EQ(*http::find_header(deleted->headers, "Allow"), "GET, PUT");

  reviews_.users["admin"] = "sre";
  reviews_.readers = {"sre"};
  reviews_.put_paths = {"/debug/log-level"};
  EXPECT_EQ(put("admin", "/debug/log-level").body, "PUT debug");
  EXPECT_EQ(put("", "/debug/log-level").status, 401);
}

TEST_F(MetricsServerTest, SaysWhoAsksForAPageThatDependsOnIt) {
  reviews_.paths = {"/fleet/v1/snapshot"};
  MetricsServerOptions options;
  DebugPage page;
  page.reply = [](const http::Request&, const Json& user) {
    http::Reply out;
    out.response = {200, {}, user.dump()};
    return out;
  };
  options.pages = {{"/fleet/v1/snapshot", page}};
  start(options);
  const Json expected = Json::parse(
      R"({"user": "prometheus", "uid": "u1", "groups": ["system:authenticated"],
          "extra": {"authentication.kubernetes.io/pod-name": ["prometheus-0"]}})");
  for (int request = 0; request < 2; ++request) {
    const auto response = get("good", "/fleet/v1/snapshot");
    ASSERT_TRUE(response.ok()) << response.error().message();
    EXPECT_EQ(parse_json(response->body).value_or(Json()), expected) << "also from a cached decision";
  }
  const auto refused = get("poor", "/fleet/v1/snapshot");
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->status, 403);
  EXPECT_THAT(refused->body, HasSubstr("ClusterRole tpu-slice-fleet"));
}

TEST_F(MetricsServerTest, ServesNoDebugPagesByHttp) {
  MetricsServerOptions options;
  options.secure = false;
  options.pages["/debug/keys"].answer = [](const http::Request&) { return http::Response{200, {}, "keys"}; };
  start(options);
  EXPECT_EQ(get("", "/debug/keys", "", "http")->status, 404);
}

TEST_F(MetricsServerTest, AnswersUnavailableIfTheApiServerDoesNotReview) {
  reviews_.error = Error::unavailable("connection refused");
  start({});
  const auto response = get("good");
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 503);
  EXPECT_NE(http::find_header(response->headers, "Retry-After"), nullptr);
}

TEST_F(MetricsServerTest, ServesAllClientsByHttpIfItIsNotSecure) {
  start({.secure = false});
  const auto response = get("", "/metrics", "", "http");
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_FALSE(server_->keeps_certificate());
  EXPECT_EQ(reviews_.count(), 0U);
}

TEST_F(MetricsServerTest, ASecureServerDoesNotSpeakHttp) {
  start({});
  EXPECT_THAT(get("good", "/metrics", "", "http"), IsError(ErrorCode::kUnavailable));
}

TEST_F(MetricsServerTest, ServesTheCertificateOfAnother) {
  start({.shares_certificate = true});
  EXPECT_TRUE(server_->shares_certificate());
  const testing::LoopbackIdentity identity = testing::make_loopback_identity("webhook").value();
  EXPECT_THAT(get("good", "/metrics", identity.authority), IsError(ErrorCode::kUnavailable));
  server_->set_certificate(identity.leaf);
  const auto response = get("good", "/metrics", identity.authority);
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
}

TEST_F(MetricsServerTest, ReadsAChangedCertificateOfADirectory) {
  const std::string directory = std::string(::testing::TempDir()) + "/metrics-certificate";
  std::filesystem::create_directories(directory);
  const auto write = [&](const testing::LoopbackIdentity& identity) {
    ASSERT_TRUE(write_private_file(directory + "/tls.crt", identity.leaf.certificate_chain).ok());
    ASSERT_TRUE(write_private_file(directory + "/tls.key", identity.leaf.private_key).ok());
  };
  const testing::LoopbackIdentity first = testing::make_loopback_identity("first").value();
  const testing::LoopbackIdentity second = testing::make_loopback_identity("second").value();
  write(first);
  start({.certificate_directory = directory, .shares_certificate = true});
  EXPECT_TRUE(server_->keeps_certificate());
  EXPECT_EQ(get("good", "/metrics", first.authority)->status, 200);
  write(second);
  server_->step({});
  EXPECT_EQ(get("good", "/metrics", second.authority)->status, 200);
  EXPECT_THAT(get("good", "/metrics", first.authority), IsError(ErrorCode::kUnavailable));
  std::filesystem::remove(directory + "/tls.key");
  EXPECT_EQ(server_->step({}), std::chrono::seconds(5)) << "retried";
  EXPECT_EQ(get("good", "/metrics", second.authority)->status, 200) << "the last one is served";
  std::filesystem::remove_all(directory);
}

TEST_F(MetricsServerTest, DoesNotStartWithoutItsCertificateFiles) {
  MetricsServerOptions options;
  options.certificate_directory = "/does/not/exist";
  const auto server = MetricsServer::start(options, reviews_, clock_, metrics_, {});
  EXPECT_THAT(server, IsError(ErrorCode::kNotFound));
}

TEST_F(MetricsServerTest, StopsWhileTheApiServerHangs) {
  std::atomic<bool> hangs = false;
  reviews_.on_review = [&](const std::stop_token& stop) {
    hangs = true;
    pause(std::chrono::hours(1), stop);
  };
  start({});
  std::jthread client([this] { static_cast<void>(get("good")); });
  while (!hangs) pause(std::chrono::milliseconds(1), {});
  const Instant begin = clock_.now();
  server_.reset();
  EXPECT_LT(clock_.now() - begin, std::chrono::seconds(10));
}

TEST(ProcessMetrics, AreMeasuredAtEachScrape) {
  Metrics metrics;
  const RealClock clock;
  const ProcessMetrics process(metrics, clock);
  EXPECT_THAT(metrics.scrape(), HasSubstr("process_open_fds"));
  EXPECT_GT(metrics.gauge("process_resident_memory_bytes", "").value(), 1e6);
  EXPECT_GT(metrics.gauge("process_open_fds", "").value(), 2);
  EXPECT_GT(metrics.gauge("process_start_time_seconds", "").value(), 1e9);
  EXPECT_GT(metrics.counter("process_cpu_seconds_total", "").value(), 0);
}

}  // namespace
}  // namespace tpuslice
