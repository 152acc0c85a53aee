// The operator as a process on a real control plane, with exactly the permissions of deploy/rbac.
#include "tests/support/operator_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::testing {
namespace {

TEST(OperatorMetrics, AreSummedOverLabelsThatAreNotGiven) {
  const auto samples = parse_metrics(
      "# TYPE requests counter\nrequests{code=\"200\",method=\"GET\"} 3\nrequests{code=\"200\",method=\"PUT\"} 4\n"
      "requests{code=\"403\",method=\"a \\\"b\\\" \\\\ }\"} 1\nplain 2.5e3\n");
  ASSERT_TRUE(samples.ok()) << samples.error().message();
  EXPECT_EQ(sum_of(*samples, "requests", {{"code", "200"}}), 7);
  EXPECT_EQ(sum_of(*samples, "requests", {{"method", "a \"b\" \\ }"}}), 1);
  EXPECT_EQ(sum_of(*samples, "requests"), 8);
  EXPECT_EQ(sum_of(*samples, "plain"), 2500);
  EXPECT_EQ(sum_of(*samples, "requests", {{"code", "500"}}), 0);
  EXPECT_FALSE(parse_metrics("requests{code=\"200} 3\n").ok());
  EXPECT_FALSE(parse_metrics("requests three\n").ok());
}

/// A control plane without controllers.
class OperatorOnRealApiServer : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.controllers = false, .scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = std::move(*plane);
    auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    options_.kubeconfig = *kubeconfig;
    options_.log = plane_->dir() + "/operator.log";
  }
  void TearDown() override {
    if (HasFailure() && plane_) {
      plane_->keep_dir();
      GTEST_LOG_(INFO) << "logs are in " << plane_->dir();
    }
  }

  std::unique_ptr<ControlPlane> plane_;
  OperatorProcessOptions options_;
};

TEST_F(OperatorOnRealApiServer, CreatesItsCertificateWithoutForbiddenRequests) {
  const auto port = free_port();
  ASSERT_TRUE(port.ok());
  ASSERT_TRUE(register_webhook(plane_->client(), *port).ok());
  options_.webhook_port = *port;
  auto started = OperatorProcess::start(options_);
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  const auto secret = plane_->client().get(kSecrets, {"tpu-slice-system", "tpu-slice-webhook-cert"});
  EXPECT_TRUE(secret.ok()) << secret.error().message();
  const auto samples = op.metrics();
  ASSERT_TRUE(samples.ok()) << samples.error().message();
  EXPECT_GT(sum_of(*samples, "rest_client_requests_total", {{"code", "200"}}), 0);
  EXPECT_EQ(sum_of(*samples, "rest_client_requests_total", {{"code", "403"}}), 0);
  EXPECT_GT(op.resident_mib().value_or(0), 1);
  EXPECT_GE(op.cpu_seconds().value_or(-1), 0);

  op.kill();
  EXPECT_FALSE(op.ready());
  EXPECT_FALSE(op.resident_mib().ok());
  const Status restarted = op.restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message();
  const Status stopped = op.stop();
  EXPECT_TRUE(stopped.ok()) << stopped.error().message();
}

// Other tests check that this metric is 0.
TEST_F(OperatorOnRealApiServer, CountsForbiddenRequests) {
  const auto kubeconfig = plane_->user_kubeconfig("other");
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  options_.kubeconfig = *kubeconfig;
  options_.wait_ready = false;
  auto started = OperatorProcess::start(options_);
  ASSERT_TRUE(started.ok()) << started.error().message();
  const Status ready = (*started)->wait_ready(std::chrono::seconds(2));
  ASSERT_FALSE(ready.ok());
  EXPECT_THAT(ready.error().message(), ::testing::HasSubstr("/readyz/stores: 500 not synced: "));
  EXPECT_GT((*started)->metric("rest_client_requests_total", {{"code", "403"}}).value_or(0), 0);
}

TEST_F(OperatorOnRealApiServer, ServesTheWebhookWithCertificateFiles) {
  const auto port = free_port();
  ASSERT_TRUE(port.ok());
  options_.webhook_port = *port;
  options_.webhook_cert_dir = plane_->dir() + "/webhook";
  const auto authority = make_webhook_certificate(options_.webhook_cert_dir);
  ASSERT_TRUE(authority.ok()) << authority.error().message();
  ASSERT_TRUE(register_webhook(plane_->client(), *port, *authority).ok());
  auto started = OperatorProcess::start(options_);
  ASSERT_TRUE(started.ok()) << started.error().message();
  const Json slice = {
      {"groupName", "g"},
      {"numOfHosts", 3},
      {"template",
       {{"spec",
         {{"nodeSelector",
           {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"}, {"cloud.google.com/gke-tpu-topology", "4x4"}}},
          {"containers",
           Json::array(
               {Json{{"name", "w"}, {"image", "i"}, {"resources", {{"limits", {{"google.com/tpu", "4"}}}}}}})}}}}}};
  const Json head = {{"template", {{"spec", {{"containers", Json::array({Json{{"name", "h"}, {"image", "i"}}})}}}}}};
  const Json cluster = {{"apiVersion", "ray.io/v1"},
                        {"kind", "RayCluster"},
                        {"metadata", {{"name", "train"}, {"namespace", "default"}}},
                        {"spec", {{"headGroupSpec", head}, {"workerGroupSpecs", Json::array({slice})}}}};
  constexpr ResourceType kRayClusters{"ray.io", "v1", "RayCluster", "rayclusters"};
  const auto refused = plane_->client().create(kRayClusters, Object(cluster));
  ASSERT_FALSE(refused.ok()) << "the webhook was not called";
  EXPECT_THAT(refused.error().message(),
              ::testing::HasSubstr("admission webhook \"rayclusters.tpuslice.dev\" denied the request"));
  EXPECT_FALSE(plane_->client().get(kSecrets, {"tpu-slice-system", "tpu-slice-webhook-cert"}).ok())
      << "the operator must not create a certificate";
}

}  // namespace
}  // namespace tpuslice::testing
