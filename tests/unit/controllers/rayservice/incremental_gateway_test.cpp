// NewClusterWithIncrementalUpgrade: a missing Gateway API, drift, other strategies, suspension, and what KubeRay began.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/rayservice/incremental_fixture.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class IncrementalGateway : public IncrementalFixture {};

TEST_F(IncrementalGateway, WithoutTheGatewayApiTheClusterServesAndNoUpgradeBegins) {
  World world(an_incremental_service());
  world.serves_gateways = false;
  for (int i = 0; i < 20; ++i) {
    world.step();
    world.advance();
  }
  const std::string first = world.active();
  EXPECT_EQ(world.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_EQ(world.condition(plan::kChildrenReady), "False: GatewayAPIMissing");
  EXPECT_TRUE(world.plan().requeue_after.has_value());
  world.config()["rayVersion"] = "2.50.0";
  for (int i = 0; i < 5; ++i) {
    world.step();
    world.advance();
  }
  EXPECT_EQ(world.clusters().size(), 1U);
  EXPECT_EQ(world.condition(kUpToDate), "False: GatewayAPIMissing");
  world.serves_gateways = true;
  for (int i = 0; i < 80 && world.active() == first; ++i) {
    world.step();
    world.advance();
  }
  EXPECT_NE(world.active(), first);
}

TEST_F(IncrementalGateway, TheMissingApiIsReportedOnceWithWhatToInstall) {
  World world(an_incremental_service());
  world.serves_gateways = false;
  const plan::Plan first = world.step();
  EXPECT_THAT(first, HasEvent("GatewayAPIMissing"));
  const Json* condition = find_condition(world.service()["status"]["conditions"], plan::kChildrenReady);
  EXPECT_THAT(string_at(*condition, {"message"}),
              HasSubstr("install the CustomResourceDefinitions of gateway.networking.k8s.io and a controller for "
                        "GatewayClass istio"));
  world.advance();
  EXPECT_THAT(world.step(), testing::Not(HasEvent("GatewayAPIMissing")));
}

TEST_F(IncrementalGateway, ChangedWeightsAndListenersAreRestored) {
  upgrade_to(25);
  const std::map<std::string, int> before = world_.weights();
  Json& route = world_.routes().at("llm-httproute")["spec"];
  route["rules"][0]["backendRefs"][0]["weight"] = 1;
  route["rules"][0]["matches"][0]["headers"][0] = {{"name", "canary"}, {"value", "yes"}};
  route["hostnames"] = Json::array({"other.example.com"});
  world_.gateways().at("llm-gateway")["spec"]["listeners"][0]["port"] = 8080;
  world_.gateways().at("llm-gateway")["metadata"]["annotations"]["mine"] = "stays";
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan, HasEvent("UpdatedHTTPRoute"));
  EXPECT_THAT(plan, HasEvent("UpdatedGateway"));
  EXPECT_EQ(world_.weights(), before);
  const Json& restored = world_.routes().at("llm-httproute")["spec"];
  EXPECT_FALSE(restored.contains("hostnames"));
  EXPECT_FALSE(restored["rules"][0]["matches"][0].contains("headers")) << "other requests would get no answer";
  EXPECT_EQ(world_.gateways().at("llm-gateway")["spec"]["listeners"][0]["port"], 80);
  EXPECT_EQ(world_.gateways().at("llm-gateway")["metadata"]["annotations"]["mine"], "stays");
}

TEST_F(IncrementalGateway, AGatewayOfAnotherOwnerIsReported) {
  World world(an_incremental_service());
  world.add(kGateways, Json::parse(R"({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
    "metadata": {"name": "llm-gateway", "namespace": "default"}})"));
  for (int i = 0; i < 20; ++i) {
    world.step();
    world.advance();
  }
  EXPECT_EQ(world.condition(plan::kChildrenReady), "False: GatewayConflict");
  EXPECT_FALSE(world.gateways().at("llm-gateway")["metadata"].contains("ownerReferences"));
}

TEST_F(IncrementalGateway, AnotherStrategyInTheMiddleDeletesTheGatewayAndEndsTheUpgradeAtOnce) {
  upgrade_to(50);
  ASSERT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
  world_.service()["spec"]["upgradeStrategy"] = {{"type", "NewCluster"}};
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan, HasEvent("DeletedGateway"));
  EXPECT_THAT(plan, HasEvent("DeletedHTTPRoute"));
  ASSERT_TRUE(run_until([&] { return world_.active() == second_ && world_.clusters().size() == 1; }));
  EXPECT_THAT(world_.gateways(), IsEmpty());
  EXPECT_THAT(world_.routes(), IsEmpty());
  EXPECT_EQ(world_.capacity(second_), 100);
  EXPECT_EQ(world_.selected("llm-serve-svc"), second_);
  for (const char* member : {"targetCapacity", "trafficRoutedPercent", "lastTrafficMigratedTime"}) {
    EXPECT_FALSE(world_.service()["status"]["activeServiceStatus"].contains(member)) << member;
  }
}

TEST_F(IncrementalGateway, TheServeServiceOfTheStrategyBeforeFollowsTheTraffic) {
  World world(a_service());
  ASSERT_LE(world.settle(), 40);
  const std::string first = world.active();
  const Json incremental = an_incremental_service()["spec"];
  world.service()["spec"]["upgradeStrategy"] = incremental["upgradeStrategy"];
  world.config()["enableInTreeAutoscaling"] = true;
  std::string second;
  for (int i = 0; i < 120 && world.active() == first; ++i) {
    world.step();
    world.advance();
    if (!world.pending().empty()) second = world.pending();
    const auto weights = world.weights();
    const auto weight = weights.find(world.selected("llm-serve-svc"));
    if (weight != weights.end()) {
      EXPECT_GE(weight->second, 50);
    }
  }
  EXPECT_EQ(world.active(), second);
  EXPECT_EQ(world.selected("llm-serve-svc"), second);
}

TEST_F(IncrementalGateway, SuspensionInTheMiddleLeavesNothing) {
  upgrade_to(25);
  world_.service()["spec"]["suspend"] = true;
  ASSERT_TRUE(run_until([&] { return world_.condition(kSuspendedCondition).starts_with("True"); }));
  EXPECT_THAT(world_.clusters(), IsEmpty());
  EXPECT_THAT(world_.services(), IsEmpty());
  EXPECT_THAT(world_.gateways(), IsEmpty());
  EXPECT_THAT(world_.routes(), IsEmpty());
  EXPECT_EQ(world_.condition(kRollbackInProgress), "False: SuspendComplete");
  world_.service()["spec"]["suspend"] = false;
  ASSERT_TRUE(run_until([&] { return world_.condition(kReady).starts_with("True") && !world_.weights().empty(); }));
  EXPECT_THAT(world_.weights(), ElementsAre(Pair(world_.active(), 100)));
}

TEST_F(IncrementalGateway, AnUpgradeThatKubeRayBeganGoesOn) {
  upgrade_to(50);
  for (auto& [name, cluster] : world_.clusters()) {
    Json& annotations = cluster["metadata"]["annotations"];
    annotations["ray.io/kuberay-version"] = "v1.7.0";
    annotations["ray.io/hash-without-replicas-and-workers-to-delete"] = "another";
    for (const auto name_of : {kServeConfig, kServeConfigBody, kReplicas}) annotations.erase(std::string(name_of));
  }
  world_.restart_operator();
  const std::map<std::string, int> before = world_.weights();
  world_.step();
  EXPECT_EQ(world_.weights(), before);
  EXPECT_EQ(world_.pending(), second_);
  ASSERT_TRUE(run_until([&] { return world_.active() == second_ && world_.clusters().size() == 1; }));
}

TEST_F(IncrementalGateway, ARollbackThatKubeRayBeganGoesOn) {
  const Json before = world_.config();
  upgrade_to(50);
  world_.config() = before;
  round();
  for (auto& [name, cluster] : world_.clusters()) {
    cluster["metadata"]["annotations"]["ray.io/kuberay-version"] = "v1.7.0";
  }
  ASSERT_TRUE(run_until([&] { return has_rolled_back() && world_.clusters().size() == 1; }));
}

TEST_F(IncrementalGateway, TheOldClusterIsNotDeletedForRoomOnceTheNewOneHasTraffic) {
  world_.service()["metadata"]["annotations"]["tpuslice.dev/upgrade-without-room"] = "replace";
  upgrade_to(25);
  Json conditions = Json::array();
  set_condition(conditions, {std::string(plan::kSlicesPlaced), "False", "NodesInUse", "no free nodes", std::nullopt},
                world_.now() - std::chrono::minutes(5));
  Json& status = world_.clusters().at(second_)["status"];
  status["conditions"] = std::move(conditions);
  const plan::Plan plan = world_.step();
  EXPECT_THAT(writes_of(plan, "delete RayCluster"), IsEmpty());
  EXPECT_EQ(world_.condition(plan::kSlicesPlaced), "False: NoRoomForUpgrade");
}

TEST_F(IncrementalGateway, ARefusedCapacityIsReported) {
  upgrade_to(50);
  world_.ray(first_).put_status = 400;
  for (int i = 0; i < 6; ++i) round();
  EXPECT_THAT(events_, Contains("FailedToUpdateTargetCapacity").Times(1));
  EXPECT_EQ(share("active", "targetCapacity"), 100);
  EXPECT_EQ(world_.condition(kServeConfigApplied), "False: ConfigRefused");
  world_.ray(first_).put_status = 200;
  EXPECT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
}

}  // namespace
}  // namespace tpuslice::rayservice
