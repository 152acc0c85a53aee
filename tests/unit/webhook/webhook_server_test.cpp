#include "webhook/webhook_server.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/http/client/io_threads.h"
#include "api/http/client/network_transport.h"
#include "tests/support/fake_api.h"
#include "tests/unit/tpu/pods.h"
#include "tests/unit/webhook/reviews.h"

namespace tpuslice::webhook {
namespace {

using ::testing::HasSubstr;
using testing::post;
using testing::review_of;
using tpu::testing::RayPod;
using tpuslice::testing::FakeApi;

const ObjectKey kCertificateSecret{"ours", "tpu-slice-webhook-cert"};

class WebhookServerTest : public ::testing::Test {
 protected:
  WebhookServerTest() {
    WebhookServerOptions options;
    options.namespace_name = "ours";
    server_ = std::move(*WebhookServer::start(options, api_, api_, clock_, metrics_, {}));
  }

  /// A connection as the API server makes it: it trusts only the authority in the Secret.
  Result<http::Response> send(const http::Request& request) {
    http::TransportOptions options;
    options.server = "https://127.0.0.1:" + std::to_string(server_->port());
    options.tls_server_name = "tpu-slice-webhook.ours.svc";
    options.ca =
        decode_base64(string_at(api_.find(kSecrets, kCertificateSecret)->json(), {"data", "ca.crt"})).value_or("");
    ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(options));
    return transport->call(request, std::chrono::seconds(20), {});
  }

  std::shared_ptr<http::IoThreads> io_ = http::start_io();
  RealClock clock_;
  Metrics metrics_;
  FakeApi api_;
  std::unique_ptr<WebhookServer> server_;
};

TEST_F(WebhookServerTest, IsReadyOnceItHasItsCertificate) {
  EXPECT_FALSE(server_->ready());
  api_.fault = [](const FakeApi::Call& call) {
    return call.verb == "create" ? std::optional<Error>(Error::conflict("exists")) : std::nullopt;
  };
  server_->step({});
  EXPECT_FALSE(server_->ready());
  api_.fault = nullptr;
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

TEST_F(WebhookServerTest, ServesARenewedCertificateWithoutARestart) {
  server_->step({});
  ASSERT_TRUE(api_.remove(kSecrets, kCertificateSecret, {}, {}).ok());
  server_->step({});
  const auto response = send(post("/elsewhere", Json::object()));
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response->status, 404);
}

TEST_F(WebhookServerTest, RunsUntilStop) {
  std::stop_source stop;
  std::jthread loop([&] { server_->run(stop.get_token()); });
  stop.request_stop();
  loop.join();
}

TEST(WebhookServer, DoesNotStartWithoutCertificateFiles) {
  const RealClock clock;
  Metrics metrics;
  FakeApi api;
  WebhookServerOptions options;
  options.certificate_directory = "/does/not/exist";
  const auto server = WebhookServer::start(options, api, api, clock, metrics, {});
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace tpuslice::webhook
