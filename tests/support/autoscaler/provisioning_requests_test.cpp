#include "tests/support/autoscaler/provisioning_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/autoscaler/autoscaler.h"
#include "tests/support/builders.h"
#include "tests/support/fake_api.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

const ObjectKey kRequest{"default", "train"};

/// An API server without scheduler and kubelets.
class ProvisioningRequestsTest : public ::testing::Test {
 protected:
  ProvisioningRequestsTest() {
    const auto put = [&](const ResourceType& type, Json object) { api_.put(type, Object(std::move(object))); };
    put(kNamespaces, {{"metadata", {{"name", "default"}}}});
    PodBuilder pod("x");
    pod.tpu(4).select("cloud.google.com/gke-tpu-topology", "4x4");
    Json spec = pod.build()["spec"];
    spec["tolerations"] = Json::array({{{"key", "google.com/tpu"}, {"operator", "Exists"}}});
    put(kPodTemplates,
        {{"metadata", {{"name", "host"}, {"namespace", "default"}}}, {"template", {{"spec", std::move(spec)}}}});
    sim::NodePool pool{.name = "a", .accelerator = "tpu-v6e-slice", .topology = "4x4"};
    pool.hosts = 4;
    pool.chips_per_host = 4;
    pool_ = pool;
    sim::NodePool queued = pool;
    queued.name = "q";
    autoscaler_ =
        std::make_unique<Autoscaler>(api_, api_, clock_,
                                     AutoscalerOptions{.groups = {node_group(pool), queued_node_group(queued)},
                                                       .unneeded_time = 60s,
                                                       .provisioning_requests = true,
                                                       .request_retry = 10s});
  }

  void request(const std::string& provisioning_class, int count, const Json& parameters = Json::object(),
               const std::string& pod_template = "host") {
    const Json set = {{"count", count}, {"podTemplateRef", {{"name", pod_template}}}};
    const char* group = provisioning_class == "queued-provisioning" ? ".gke.io" : ".autoscaling.x-k8s.io";
    const Json spec = {{"provisioningClassName", provisioning_class + group},
                       {"parameters", parameters},
                       {"podSets", Json::array({set})}};
    const Json metadata = {
        {"name", "train"}, {"namespace", "default"}, {"creationTimestamp", format_rfc3339(clock_.wall())}};
    Json request = {{"metadata", metadata}, {"spec", spec}};
    api_.put(kProvisioningRequests, Object(std::move(request)));
  }
  void run(Duration duration) {
    for (const Instant end = clock_.now() + duration; clock_.now() < end; clock_.advance(250ms)) {
      autoscaler_->step(clock_.now());
      ASSERT_TRUE(autoscaler_->last_error().ok()) << autoscaler_->last_error().error().message();
    }
  }
  /// "Accepted=True Provisioned=False"
  [[nodiscard]] std::string conditions() {
    std::string text;
    const auto found = api_.find(kProvisioningRequests, kRequest);
    for (const Json& condition : array_at(found->json(), {"status", "conditions"})) {
      text += (text.empty() ? "" : " ") + string_at(condition, {"type"}) + "=" + string_at(condition, {"status"});
    }
    return text;
  }
  /// As kubelet and kwok do.
  void make_nodes_ready() {
    for (const Object& node : api_.all(kNodes)) {
      Json ready = node.json();
      ready["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
      api_.put(kNodes, Object(ready));
    }
  }

  FakeClock clock_;
  FakeApi api_;
  sim::NodePool pool_;
  std::unique_ptr<Autoscaler> autoscaler_;
};

TEST_F(ProvisioningRequestsTest, AtomicScaleUpIsProvisionedWhenItsGroupsAreRequested) {
  request("best-effort-atomic-scale-up", 4);
  run(250ms);
  EXPECT_EQ(conditions(), "Accepted=True");
  run(500ms);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=True");
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
  EXPECT_EQ(api_.all(kNodes).size(), 0U) << "the nodes come later";
  run(3s);
  EXPECT_EQ(api_.all(kNodes).size(), 4U);
  make_nodes_ready();
  run(9min);
  EXPECT_EQ(api_.all(kNodes).size(), 4U) << "its capacity is booked";
  run(3min);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=True BookingExpired=True");
  EXPECT_EQ(api_.all(kNodes).size(), 0U) << "and unneeded after ten minutes";
}

TEST_F(ProvisioningRequestsTest, AtomicScaleUpIsAllOrNothing) {
  request("best-effort-atomic-scale-up", 5);
  run(5s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=False");
  EXPECT_EQ(autoscaler_->counts().scale_ups, 0);
}

TEST_F(ProvisioningRequestsTest, CheckCapacityNeedsNodesThatExist) {
  request("check-capacity", 4);
  run(5s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=False");
  EXPECT_EQ(autoscaler_->counts().scale_ups, 0);
  pool_.name = "other";
  for (int host = 0; host < 4; ++host) api_.put(kNodes, Object(sim::make_node(pool_, host, host, "")));
  run(20s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=True");
}

TEST_F(ProvisioningRequestsTest, FailsWithoutRetriesOrPodTemplate) {
  request("check-capacity", 4, {{"noRetry", "true"}});
  run(1s);
  EXPECT_EQ(conditions(), "Accepted=True Failed=True");
  request("check-capacity", 4, Json::object(), "missing");
  run(1s);
  EXPECT_EQ(conditions(), "Accepted=True Failed=True");
}

TEST_F(ProvisioningRequestsTest, FailsAfterAWeek) {
  request("check-capacity", 4);
  run(1s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=False");
  clock_.advance(7 * 24h);
  run(1s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=False Failed=True");
}

TEST_F(ProvisioningRequestsTest, QueuedRequestWaitsForCapacityAndIsProvisionedWhenItsNodesAcceptPods) {
  ASSERT_TRUE(autoscaler_->set_capacity("q", false).ok());
  request("queued-provisioning", 4);
  run(1min);
  EXPECT_EQ(conditions(), "Accepted=True");
  EXPECT_EQ(api_.all(kNodes).size(), 0U);
  EXPECT_EQ(autoscaler_->counts().failed_scale_ups, 0);
  ASSERT_TRUE(autoscaler_->set_capacity("q", true).ok());
  run(3s);
  ASSERT_EQ(api_.all(kNodes).size(), 4U);
  EXPECT_EQ(conditions(), "Accepted=True") << "the nodes are not Ready";
  const Object node = api_.all(kNodes).front();
  EXPECT_EQ(node.name().substr(0, 2), "q-");
  EXPECT_EQ(string_at(node.json(), {"metadata", "labels", "cloud.google.com/gke-queued"}), "true");
  EXPECT_NE(node.json()["spec"]["taints"].dump().find("cloud.google.com/gke-queued"), std::string::npos);
  make_nodes_ready();
  run(1s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=True");
  const auto found = api_.find(kProvisioningRequests, kRequest);
  EXPECT_EQ(string_at(found->json(), {"status", "provisioningClassDetails", "NodePoolName"}), "q");
  EXPECT_EQ(string_at(found->json(), {"status", "provisioningClassDetails", "ResizeRequestName"}),
            string_at(node.json(), {"metadata", "labels", kResizeRequestLabel}));
  run(2min);
  EXPECT_EQ(api_.all(kNodes).size(), 4U) << "they are booked";
}

TEST_F(ProvisioningRequestsTest, QueuedRequestWhoseNodesAreGoneIsRevoked) {
  request("queued-provisioning", 4);
  run(5s);
  make_nodes_ready();
  run(1s);
  ASSERT_EQ(conditions(), "Accepted=True Provisioned=True");
  ASSERT_TRUE(api_.remove(kNodes, {"", "q-1"}, {}, {}).ok());
  run(1s);
  EXPECT_EQ(api_.all(kNodes).size(), 0U);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=True CapacityRevoked=True");
  run(5s);
  EXPECT_EQ(autoscaler_->counts().scale_ups, 1);
}

TEST_F(ProvisioningRequestsTest, QueuedRequestThatIsDeletedGivesItsGroupBack) {
  ASSERT_TRUE(autoscaler_->set_capacity("q", false).ok());
  request("queued-provisioning", 4);
  run(5s);
  ASSERT_TRUE(api_.remove(kProvisioningRequests, kRequest, {}, {}).ok());
  run(1s);
  ASSERT_TRUE(autoscaler_->set_capacity("q", true).ok());
  run(5s);
  EXPECT_EQ(api_.all(kNodes).size(), 0U);
  request("queued-provisioning", 4);
  run(5s);
  EXPECT_EQ(api_.all(kNodes).size(), 4U);
}

TEST_F(ProvisioningRequestsTest, QueuedGroupsAreForQueuedRequestsOnly) {
  request("best-effort-atomic-scale-up", 8);
  run(5s);
  EXPECT_EQ(conditions(), "Accepted=True Provisioned=False") << "one group of four";
  request("queued-provisioning", 5);
  run(5s);
  EXPECT_EQ(conditions(), "") << "no queued group has five nodes";
  EXPECT_EQ(autoscaler_->counts().scale_ups, 0);
}

TEST_F(ProvisioningRequestsTest, OtherClassesAreIgnored) {
  request("other", 4);
  run(1s);
  EXPECT_EQ(conditions(), "");
}

}  // namespace
}  // namespace tpuslice::testing
