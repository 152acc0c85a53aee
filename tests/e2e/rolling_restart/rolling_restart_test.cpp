// Both replicas are restarted one after the other, and certificates are replaced, while pods are admitted.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/client/credentials.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/yaml.h"
#include "tests/e2e/admission_load.h"
#include "tests/support/eventually.h"
#include "tests/support/load_balancer.h"
#include "tests/support/operator_process.h"
#include "webhook/certificates.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

/// How long kube-proxy sends new connections to a replica that is shutting down.
constexpr Duration kEndpointDelay = 1s;
constexpr int kShutdownDelaySeconds = 3;
/// From this round on, the API server has a certificate of a new authority.
constexpr int kNewAuthorityRound = 5;
/// Longer than the operator takes to read its files again.
constexpr Duration kReread = 65s;

int rounds() {
  const char* text = std::getenv("TPUSLICE_ROLLING_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));  // NOLINT: a wrong number is one round
}

Json tpu_pod() {
  Json pod = tpu::testing::RayPod{}.json();
  for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
  return pod;
}

class RollingRestart : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    balancer_ = LoadBalancer::start().value();
    const auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    use_authority_file(*kubeconfig);
    for (int i = 0; i < 2; ++i) start_replica(*kubeconfig, i);
    const Status registered = register_webhook(plane_->client(), balancer_->port(), {});
    ASSERT_TRUE(registered.ok()) << registered.error().message();
    balancer_->set_backends(ports_);
    ASSERT_TRUE(eventually([&] { return fails_closed(plane_->client()); }, 60s));
    ASSERT_TRUE(eventually([&] { return plane_->client().create(kPods, Object(tpu_pod()), {.dry_run = true}).ok(); }));
  }
  void TearDown() override {
    if (plane_ && HasFailure()) plane_->keep_dir();
  }

  /// The operator reads the authority of the API server from a file, as in a pod.
  void use_authority_file(const std::string& kubeconfig) {
    authority_file_ = plane_->dir() + "/operator-ca.crt";
    ASSERT_TRUE(write_private_file(authority_file_, plane_->authority()).ok());
    Json config = parse_yaml(read_file(kubeconfig).value()).value();
    for (Json& cluster : config["clusters"]) {
      cluster["cluster"].erase("certificate-authority-data");
      cluster["cluster"]["certificate-authority"] = authority_file_;
    }
    ASSERT_TRUE(write_private_file(kubeconfig, to_yaml(config)).ok());
  }

  void start_replica(const std::string& kubeconfig, int index) {
    OperatorProcessOptions options;
    options.kubeconfig = kubeconfig;
    options.log = fmt::format("{}/operator-{}.log", plane_->dir(), index);
    options.webhook_port = free_port().value();
    options.wait_failure_policy = false;  // The balancer gets to know the replica below.
    options.shutdown_delay_seconds = kShutdownDelaySeconds;
    ports_.push_back(options.webhook_port);
    auto replica = OperatorProcess::start(options);
    ASSERT_TRUE(replica.ok()) << replica.error().message();
    replicas_.push_back(*std::move(replica));
  }

  void restart(std::size_t index) {
    std::jthread endpoints([&](const std::stop_token& stop) {
      tpuslice::pause(kEndpointDelay, stop);
      balancer_->set_backends({ports_[1 - index]});
    });
    const Status stopped = replicas_[index]->stop(20s);
    ASSERT_TRUE(stopped.ok()) << stopped.error().message();
    endpoints.join();
    const Status started = replicas_[index]->restart();
    ASSERT_TRUE(started.ok()) << started.error().message();
    balancer_->set_backends(ports_);
  }

  /// A new authority beside the old one, and a certificate of it, as an administrator may write them.
  void replace_secret(client::Client& client) {
    const ObjectKey key{"tpu-slice-system", "tpu-slice-webhook-cert"};
    webhook::CertificateBundle bundle = webhook::read_certificate_data(client.get(kSecrets, key)->json());
    bundle.authority = {};
    bundle.leaf = {};
    webhook::SelfManagedOptions options;
    options.namespace_name = key.namespace_name;
    const auto renewed = webhook::renew_certificates(bundle, options, RealClock().wall());
    ASSERT_TRUE(renewed.ok()) << renewed.error().message();
    const auto written =
        client.patch(kSecrets, key, client::PatchType::kMerge, {{"data", webhook::certificate_data(*renewed)}});
    ASSERT_TRUE(written.ok()) << written.error().message();
  }

  /// As an installer that applies its manifest again.
  void reset_bundle(client::Client& client) {
    const ResourceType type{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                            "mutatingwebhookconfigurations", false};
    const auto before = client.get(type, {"", "tpu-slice-operator"});
    ASSERT_TRUE(before.ok()) << before.error().message();
    const RealClock clock;
    const Instant begin = clock.now();
    const auto bundle_of = [](const Object& object) {
      return string_at(object.json(), {"webhooks", "0", "clientConfig", "caBundle"});
    };
    const auto reset = client.patch(type, {"", "tpu-slice-operator"}, client::PatchType::kJson,
                                    Json::array({{{"op", "remove"}, {"path", "/webhooks/0/clientConfig/caBundle"}}}));
    ASSERT_TRUE(reset.ok()) << reset.error().message();
    ASSERT_TRUE(eventually([&] {
      const auto now = client.get(type, {"", "tpu-slice-operator"});
      return now.ok() && bundle_of(*now) == bundle_of(*before);
    }));
    const std::chrono::duration<double> took = clock.now() - begin;
    fmt::print("a removed CA bundle is restored after {:.1f} s\n", took.count());
    EXPECT_LT(took.count(), 10);
  }

  /// The API server gets a certificate of a new authority, which the operator has read before from its file.
  void replace_certificate_of_apiserver(const std::string& authorities, const http::Identity& authority) {
    ASSERT_TRUE(write_private_file(authority_file_, authorities).ok());
    tpuslice::pause(kReread, {});
    const Timestamp now = RealClock().wall();
    const auto leaf = http::issue_certificate(
        authority, {.common_name = "kube-apiserver", .dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}},
        {now - 1h, now + 24h});
    ASSERT_TRUE(leaf.ok()) << leaf.error().message();
    ASSERT_TRUE(write_private_file(plane_->dir() + "/apiserver.key", leaf->private_key).ok());
    ASSERT_TRUE(write_private_file(plane_->dir() + "/apiserver.crt", leaf->certificate_chain).ok());
  }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<LoadBalancer> balancer_;
  std::string authority_file_;
  std::vector<int> ports_;
  std::vector<std::unique_ptr<OperatorProcess>> replicas_;
};

TEST_F(RollingRestart, FailsNoAdmission) {
  const Timestamp now = RealClock().wall();
  const http::Identity authority = http::make_certificate_authority("new-control-plane", {now - 1h, now + 24h}).value();
  const std::string authorities = plane_->authority() + authority.certificate_chain;
  client::ClientConfig config = plane_->config();
  config.ca = authorities;
  const RealClock clock;
  const auto transport = client::make_transport(config, clock).value();
  client::Client client(*transport);
  AdmissionLoad load(client, tpu_pod());
  for (int round = 1; round <= rounds(); ++round) {
    if (round == kNewAuthorityRound) replace_certificate_of_apiserver(authorities, authority);
    restart(0);
    replace_secret(client);
    restart(1);
    fmt::print("round {}: {} admitted, {} failed\n", round, load.admitted(), load.failed());
    std::fflush(stdout);
  }
  load.stop();
  EXPECT_EQ(load.failed(), 0) << load.first_failure();
  EXPECT_GT(load.admitted(), 100);
  reset_bundle(client);
}

}  // namespace
}  // namespace tpuslice::testing
