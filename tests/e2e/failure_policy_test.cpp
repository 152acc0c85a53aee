// failurePolicy of the webhook for pods with TPUs, on a real API server: what becomes of these pods before the operator
// has ever served, while it serves, and when it is gone; and what installers that apply their manifest again see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tests/support/pods.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr ResourceType kMutating{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                 "mutatingwebhookconfigurations", false};
const ObjectKey kMutatingName{{}, "tpu-slice-operator"};
/// The operator looks at the policy every 30 s when it is as wanted.
constexpr Duration kNextCheck = 45s;

class FailurePolicy : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = *std::move(plane);
    const auto kubeconfig = install_operator(*plane_);
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    kubeconfig_ = *kubeconfig;
    port_ = free_port().value_or(0);
    const Status written = write_manifest(port_);
    ASSERT_TRUE(written.ok()) << written.error().message();
    ASSERT_EQ(apply(), "") << "the first one";
    // Without its ServiceAccount no pod is admitted.
    ASSERT_TRUE(eventually([&] { return client().get(kServiceAccounts, {"default", "default"}).ok(); }));
  }
  void TearDown() override {
    operator_.reset();
    if (HasFailure() && plane_) plane_->keep_dir();
  }

  /// The mutating configuration as it is shipped, but for the address.
  Status write_manifest(int port) {
    ASSIGN_OR_RETURN(const std::string text, read_file("deploy/webhook/webhook.yaml"));
    ASSIGN_OR_RETURN(const auto documents, parse_yaml_documents(text));
    for (const YamlDocument& document : documents) {
      const Object object(document.value);
      if (object.kind() != kMutating.kind) continue;
      return write_private_file(manifest(), to_yaml(webhook_on_loopback(object, port).json()));
    }
    return Error::not_found("no {}", kMutating.kind);
  }

  /// As `kubectl apply --server-side`, whose field manager is kubectl. The error, or nothing.
  std::string apply() {
    const auto json = parse_yaml(read_file(manifest()).value());
    client::PatchOptions options;
    options.field_manager = "kubectl";
    const auto applied = client().patch(kMutating, kMutatingName, client::PatchType::kApply, json.value(), options);
    return applied ? "" : applied.error().message();
  }

  void start_operator() {
    auto started = OperatorProcess::start(
        {.kubeconfig = kubeconfig_, .log = plane_->dir() + "/operator.log", .webhook_port = port_});
    ASSERT_TRUE(started.ok()) << started.error().message();
    operator_ = *std::move(started);
  }

  Result<Object> create_tpu_pod() {
    Json pod = tpu::testing::RayPod{}.json();
    pod["metadata"].erase("name");
    pod["metadata"]["generateName"] = "tpu-";
    for (Json& container : pod["spec"]["containers"]) container["image"] = "i";
    return client().create(kPods, Object(pod));
  }

  [[nodiscard]] client::Client& client() { return plane_->client(); }
  [[nodiscard]] std::string manifest() const { return plane_->dir() + "/webhook.yaml"; }
  [[nodiscard]] std::string policy() {
    const auto configuration = client().get(kMutating, kMutatingName);
    return configuration ? string_at(configuration->json(), {"webhooks", "0", "failurePolicy"}) : "";
  }

  std::unique_ptr<ControlPlane> plane_;
  std::string kubeconfig_;
  int port_ = 0;
  std::unique_ptr<OperatorProcess> operator_;
};

/// An operator that was installed but never ran, as with an image that cannot be pulled, must not be worse than none.
TEST_F(FailurePolicy, AdmitsPodsUntilTheWebhookHasServedAndRefusesThemWhenItIsGone) {
  const auto before = create_tpu_pod();
  ASSERT_TRUE(before.ok()) << before.error().message();
  EXPECT_EQ(before->label(tpu::kSlice), "") << "as if the operator were not installed";

  ASSERT_NO_FATAL_FAILURE(start_operator());
  EXPECT_EQ(policy(), "Fail");
  EXPECT_EQ(operator_->metric("tpuslice_webhook_failure_policy", {{"policy", "Fail"}}).value_or(0), 1);
  EXPECT_EQ(operator_->metric("rest_client_requests_total", {{"code", "403"}}).value_or(-1), 0);
  const auto during = create_tpu_pod();
  ASSERT_TRUE(during.ok()) << during.error().message();
  EXPECT_NE(during->label(tpu::kSlice), "");
  const auto leases = [&] {
    const auto list = client().list(kLeases, {.namespace_name = "tpu-slice-system"});
    return list ? list->items.size() : 0;
  };
  EXPECT_TRUE(eventually([&] { return leases() > 0; })) << "the election is not waited for at the start";
  EXPECT_EQ(leases(), 1U) << "the operator's own; the probe is not stored";

  operator_->kill();
  const auto after = create_tpu_pod();
  ASSERT_FALSE(after.ok());
  EXPECT_THAT(after.error().message(), HasSubstr("failed calling webhook \"pods.tpuslice.dev\""));
}

TEST_F(FailurePolicy, IsSetAgainAfterAnInstallerAppliedItsManifestWithoutAConflict) {
  ASSERT_NO_FATAL_FAILURE(start_operator());
  for (int round = 0; round < 2; ++round) {
    std::string problem;
    const bool applied = eventually([&] { return (problem = apply()).empty(); }, 5s);
    EXPECT_TRUE(applied) << "the operator must not own the field for longer than a moment: " << problem;
    EXPECT_EQ(policy(), "Ignore");
    EXPECT_TRUE(eventually([&] { return policy() == "Fail"; }, kNextCheck));
  }
}

TEST_F(FailurePolicy, FollowsTheAnnotationOfTheConfiguration) {
  ASSERT_NO_FATAL_FAILURE(start_operator());
  const auto annotate = [&](const Json& value) {
    const Json patch = {{"metadata", {{"annotations", {{"tpuslice.dev/failure-policy", value}}}}}};
    const auto patched = client().patch(kMutating, kMutatingName, client::PatchType::kMerge, patch);
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  };
  ASSERT_NO_FATAL_FAILURE(annotate("Ignore"));
  EXPECT_TRUE(eventually([&] { return policy() == "Ignore"; }, kNextCheck));
  operator_->kill();
  const auto pod = create_tpu_pod();
  EXPECT_TRUE(pod.ok()) << pod.error().message();
  ASSERT_NO_FATAL_FAILURE(annotate(nullptr));
  const Status restarted = operator_->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message();
  EXPECT_EQ(policy(), "Fail");
}

/// A firewall between the API server and the nodes: the replica is ready, but is never called.
TEST_F(FailurePolicy, StaysIgnoreWhileTheApiServerDoesNotReachTheOperator) {
  ASSERT_TRUE(write_manifest(free_port().value_or(0)).ok());
  ASSERT_EQ(apply(), "");
  auto started = OperatorProcess::start({.kubeconfig = kubeconfig_,
                                         .log = plane_->dir() + "/operator.log",
                                         .webhook_port = port_,
                                         .wait_failure_policy = false});
  ASSERT_TRUE(started.ok()) << started.error().message();
  operator_ = *std::move(started);
  const auto pod = create_tpu_pod();
  EXPECT_TRUE(pod.ok()) << pod.error().message();
  EXPECT_TRUE(eventually([&] {
    return read_file(operator_->log()).value_or("").find("the API server does not reach the webhook") !=
           std::string::npos;
  }));
  EXPECT_EQ(policy(), "Ignore");
}

}  // namespace
}  // namespace tpuslice::testing
