#include "webhook/webhook_server.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/http/client/network_transport.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/patch.h"
#include "tests/support/admission.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fake_api.h"
#include "tests/support/pods.h"
#include "tests/support/reviews.h"
#include "tests/unit/tpu/rules/clusters.h"
#include "webhook/admission_probe.h"

namespace tpuslice::webhook {
namespace {

using rules::testing::tpu_cluster;
using rules::testing::with;
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
    options.mutation = with_kinds();
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
  EXPECT_LE(server_->step({}), SelfManagedOptions().check);
  EXPECT_TRUE(server_->ready());
}

/// Regression: the webhook was ready before anything had been answered.
TEST_F(WebhookServerTest, IsNotReadyWhileItDoesNotAnswerItself) {
  server_->stop();
  server_->step({});
  EXPECT_TRUE(server_->trusted());
  EXPECT_FALSE(server_->answers());
  EXPECT_FALSE(server_->ready());
}

TEST_F(WebhookServerTest, BecomesUnreadyAfterSeveralUnansweredCalls) {
  server_->step({});
  ASSERT_TRUE(server_->ready());
  server_->stop();
  server_->step({});
  server_->step({});
  EXPECT_TRUE(server_->ready()) << "two calls may have come in a busy moment";
  server_->step({});
  EXPECT_FALSE(server_->ready());
}

TEST_F(WebhookServerTest, AnswersTheProbeWithTheAnnotation) {
  server_->step({});
  const Json probe = probe_object("ours").json();
  const auto response = send(post(std::string(kProbePath), review_of(probe, "coordination.k8s.io", "Lease")));
  ASSERT_TRUE(response.ok()) << response.error().message();
  ASSERT_EQ(response->status, 200) << response->body;
  const Json patch =
      Json::parse(decode_base64(string_at(Json::parse(response->body), {"response", "patch"})).value_or(""));
  const Object patched(apply_json_patch(probe, patch).value());
  EXPECT_EQ(patched.annotation(kReachedAnnotation), "true");
  EXPECT_EQ(send(post(std::string(kProbePath), Json::object()))->status, 400);
}

/// An API server that calls the webhook for the probe if `reached`.
class WebhookServerBehindAnApiServer : public WebhookServerTest {
 protected:
  WebhookServerBehindAnApiServer() {
    api_.put(kMutatingConfigurations, Object(Json::parse(R"({"metadata": {"name": "tpu-slice-operator"}, "webhooks": [
        {"name": "pods.tpuslice.dev", "failurePolicy": "Ignore", "clientConfig": {}},
        {"name": "probe.tpuslice.dev", "failurePolicy": "Ignore", "clientConfig": {}}]})")));
  }
  std::string policy() {
    return string_at(api_.find(kMutatingConfigurations, {{}, "tpu-slice-operator"})->json(),
                     {"webhooks", "0", "failurePolicy"});
  }
};

TEST_F(WebhookServerBehindAnApiServer, LeavesTheFailurePolicyWhenItIsNotReached) {
  server_->step({});
  EXPECT_TRUE(server_->ready());
  EXPECT_EQ(policy(), "Ignore");
}

TEST_F(WebhookServerBehindAnApiServer, LeavesTheFailurePolicyWhileItStops) {
  api_.clear_calls();
  server_->stop_keep_alive();
  server_->step({});
  for (const FakeApi::Call& call : api_.calls()) EXPECT_FALSE(call.type == kLeases) << call.text();
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

TEST_F(WebhookServerTest, CountsFromZero) {
  const std::string metrics = metrics_.scrape();
  EXPECT_THAT(metrics,
              HasSubstr("controller_runtime_webhook_requests_total{code=\"400\",webhook=\"/mutate-v1-pod\"} 0"));
  EXPECT_THAT(metrics, HasSubstr("controller_runtime_webhook_requests_total{code=\"404\",webhook=\"other\"} 0"));
}

// A kind that is left to its upstream controller while the webhook serves.
TEST_F(WebhookServerTest, ServesKindsThatAreSetWhileItRuns) {
  server_->step({});
  const Json cluster = with(tpu_cluster(), "/spec/networkPolicy/mode", "DenyAll");
  const auto allowed = [&] {
    const auto response = send(post("/validate-ray-io-v1-raycluster", review_of(cluster, "ray.io", "RayCluster")));
    EXPECT_TRUE(response.ok()) << response.error().message();
    return response.ok() && Json::parse(response->body)["response"]["allowed"] == true;
  };
  EXPECT_TRUE(allowed());
  server_->set_mutation(with_kinds({.served_kinds = {"RayCluster"}}));
  EXPECT_FALSE(allowed());
  server_->set_mutation(with_kinds());
  EXPECT_TRUE(allowed());
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

class WebhookServerWithClientCa : public ::testing::Test {
 protected:
  WebhookServerWithClientCa() { write("client-ca.crt", authority_.certificate_chain); }
  ~WebhookServerWithClientCa() override { std::filesystem::remove_all(directory_); }

  static http::Validity valid_now() {
    const Timestamp now = RealClock().wall();
    return {now - std::chrono::hours(1), now + std::chrono::hours(1)};
  }
  Result<std::unique_ptr<WebhookServer>> start(const std::string& client_ca) {
    WebhookServerOptions options;
    options.mutation = with_kinds();
    options.namespace_name = "ours";
    options.client_ca_file = directory_ / client_ca;
    return WebhookServer::start(options, api_, api_, clock_, metrics_, {});
  }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(directory_);
    std::ofstream(directory_ / name) << text;
  }
  static http::Identity client_of(const http::Identity& authority) {
    http::CertificateRequest request;
    request.common_name = "kube-apiserver";
    request.server = false;
    request.client = true;
    return http::issue_certificate(authority, request, valid_now()).value();
  }
  /// Status of a request of a client with this certificate.
  int status_for(const WebhookServer& server, const std::optional<http::Identity>& client) const {
    http::TransportOptions options;
    options.server = "https://127.0.0.1:" + std::to_string(server.port());
    options.insecure_skip_verify = true;
    options.identity = [client]() -> Result<std::optional<http::Identity>> { return client; };
    const auto transport = http::make_network_transport(options).value();
    const auto response = transport->call(post("/elsewhere", Json::object()), std::chrono::seconds(20), {});
    return response ? response->status : 0;
  }

  const RealClock clock_;
  Metrics metrics_;
  FakeApi api_;
  const std::filesystem::path directory_ = std::filesystem::path(::testing::TempDir()) / "webhook-client-ca";
  const http::Identity authority_ = http::make_certificate_authority("clients", valid_now()).value();
};

TEST_F(WebhookServerWithClientCa, ServesOnlyClientsWithACertificateOfIt) {
  const auto server = start("client-ca.crt").value();
  server->step({});
  EXPECT_EQ(status_for(*server, std::nullopt), 401);
  EXPECT_EQ(status_for(*server, client_of(authority_)), 404) << "the path is unknown, the client is not";
  const http::Identity other = http::make_certificate_authority("other clients", valid_now()).value();
  EXPECT_EQ(status_for(*server, client_of(other)), 0);

  write("client-ca.crt", other.certificate_chain);
  server->step({});
  EXPECT_EQ(status_for(*server, client_of(other)), 404);
  EXPECT_EQ(status_for(*server, client_of(authority_)), 0);
}

/// Regression: without the file of the clients' authorities, the server's own certificate was not renewed.
TEST_F(WebhookServerWithClientCa, RenewsItsCertificateWhileTheFileCannotBeUsed) {
  const auto server = start("client-ca.crt").value();
  std::vector<http::Identity> served;
  server->on_certificate([&](const http::Identity& identity) { served.push_back(identity); });
  server->step({});
  ASSERT_EQ(served.size(), 1U);
  for (const bool is_there : {false, true}) {
    std::filesystem::remove_all(directory_);
    if (is_there) write("client-ca.crt", "not a certificate");
    Json damaged = api_.find(kSecrets, kCertificateSecret)->json();
    damaged["data"]["tls.crt"] = damaged["data"]["tls.key"] = "";
    api_.put(kSecrets, Object(damaged));
    const std::size_t before = served.size();
    for (int i = 0; i < 3; ++i) EXPECT_LE(server->step({}), std::chrono::seconds(5));
    EXPECT_EQ(served.size(), before + 1) << (is_there ? "malformed" : "missing");
    EXPECT_TRUE(server->ready());
    EXPECT_EQ(status_for(*server, client_of(authority_)), 404) << "clients of the last authority are served";
    EXPECT_EQ(status_for(*server, std::nullopt), 401);
  }
}

TEST_F(WebhookServerWithClientCa, DoesNotStartWithoutTheFile) {
  const auto server = start("none.crt");
  EXPECT_THAT(server, IsError(ErrorCode::kNotFound));
}

TEST(WebhookServer, DoesNotStartWithoutCertificateFiles) {
  const RealClock clock;
  Metrics metrics;
  FakeApi api;
  WebhookServerOptions options;
  options.mutation = with_kinds();
  options.certificate_directory = "/does/not/exist";
  const auto server = WebhookServer::start(options, api, api, clock, metrics, {});
  EXPECT_THAT(server, IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace tpuslice::webhook
