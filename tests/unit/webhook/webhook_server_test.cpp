#include "webhook/webhook_server.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/http/io_threads.h"
#include "api/http/network_transport.h"
#include "tests/unit/tpu/pods.h"
#include "tests/unit/webhook/fake_api.h"
#include "tests/unit/webhook/reviews.h"

namespace tpuslice::webhook {
namespace {

using testing::FakeApi;
using ::testing::HasSubstr;
using testing::post;
using testing::review_of;
using tpu::testing::RayPod;

class WebhookServerTest : public ::testing::Test {
 protected:
  WebhookServerTest() {
    WebhookServerOptions options;
    options.namespace_name = "ours";
    server_ = std::move(*WebhookServer::start(options, client_, clock_, metrics_, {}));
  }

  /// A connection as the API server makes it: it trusts the Secret's authority, and nothing else.
  Result<http::Response> send(const http::Request& request) {
    http::TransportOptions options;
    options.server = "https://127.0.0.1:" + std::to_string(server_->port());
    options.tls_server_name = "tpu-slice-webhook.ours.svc";
    options.ca = decode_base64(string_at(api_.objects["/api/v1/namespaces/ours/secrets/tpu-slice-webhook-cert"],
                                         {"data", "ca.crt"}))
                     .value_or("");
    ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(options));
    return transport->call(request, std::chrono::seconds(20), {});
  }

  std::shared_ptr<http::IoThreads> io_ = http::start_io();
  RealClock clock_;
  Metrics metrics_;
  FakeApi api_;
  client::Client client_{api_};
  std::unique_ptr<WebhookServer> server_;
};

TEST_F(WebhookServerTest, IsReadyOnceItHasItsCertificate) {
  EXPECT_FALSE(server_->ready());
  api_.refuse_writes_with = 409;
  server_->step({});
  EXPECT_FALSE(server_->ready());
  EXPECT_EQ(server_->step({}), SelfManagedOptions().check);
  EXPECT_TRUE(server_->ready());
}

TEST_F(WebhookServerTest, AnswersAReviewOverTlsAndCountsIt) {
  server_->step({});
  const auto response = send(post("/mutate-v1-pod?timeout=5s", review_of(RayPod{.host = 1}.json(), "", "Pod")));
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(Json::parse(response->body)["response"]["patchType"], "JSONPatch");
  const std::string metrics = metrics_.scrape();
  EXPECT_THAT(metrics,
              HasSubstr("controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/mutate-v1-pod\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("controller_runtime_webhook_requests_in_flight{webhook=\"/mutate-v1-pod\"} 0"));
}

TEST_F(WebhookServerTest, ShowsARenewedCertificateWithoutARestart) {
  server_->step({});
  api_.objects.clear();  // Somebody deleted the Secret: a new authority is made.
  server_->step({});
  const auto response = send(post("/elsewhere", Json::object()));
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 404);
}

TEST_F(WebhookServerTest, RunsUntilToldToStop) {
  std::stop_source stop;
  std::jthread loop([&] { server_->run(stop.get_token()); });
  stop.request_stop();
  loop.join();
}

TEST(WebhookServer, DoesNotStartOnCertificatesThatAreNotThere) {
  const RealClock clock;
  Metrics metrics;
  FakeApi api;
  client::Client client(api);
  WebhookServerOptions options;
  options.certificate_directory = "/does/not/exist";
  const auto server = WebhookServer::start(options, client, clock, metrics, {});
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tpuslice::webhook
