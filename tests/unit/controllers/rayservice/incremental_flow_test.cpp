// Upgrades with NewClusterWithIncrementalUpgrade from begin to end: what moves, what is reported, and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/rayservice/incremental_fixture.h"

namespace tpuslice::rayservice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class IncrementalFlow : public IncrementalFixture {};

TEST_F(IncrementalFlow, TheFirstClusterServesBehindTheGateway) {
  EXPECT_THAT(world_.weights(), ElementsAre(Pair(first_, 100)));
  EXPECT_EQ(world_.selected("llm-head-svc"), first_);
  EXPECT_EQ(world_.selected(first_ + "-serve-svc"), first_);
  EXPECT_FALSE(world_.services().contains("llm-serve-svc"));
  EXPECT_EQ(share("active", "targetCapacity"), 100);
  EXPECT_EQ(share("active", "trafficRoutedPercent"), 100);
  EXPECT_EQ(world_.capacity(first_), 100);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_EQ(world_.condition(plan::kChildrenReady), "True: ChildrenReady");
  EXPECT_THAT(events_, Contains("CreatedGateway"));
  EXPECT_THAT(events_, Contains("CreatedHTTPRoute"));
}

TEST_F(IncrementalFlow, GatewayAndRouteAreThoseOfUpstream) {
  const Json& gateway = world_.gateways().at("llm-gateway");
  EXPECT_EQ(gateway["spec"], Json::parse(R"({"gatewayClassName": "istio",
    "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]})"));
  EXPECT_EQ(gateway["metadata"]["ownerReferences"][0]["name"], "llm");
  Json expected = Json::parse(R"({"parentRefs": [{"name": "llm-gateway", "namespace": "default"}], "rules": [{
    "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
    "backendRefs": [{"namespace": "default", "port": 8000, "weight": 100}]}]})");
  expected["rules"][0]["backendRefs"][0]["name"] = first_ + "-serve-svc";
  EXPECT_EQ(world_.routes().at("llm-httproute")["spec"], expected);
  const Json& serve = world_.services().at(first_ + "-serve-svc");
  EXPECT_EQ(serve["metadata"]["ownerReferences"][0]["kind"], "RayCluster");
  EXPECT_EQ(string_at(serve, {"metadata", "labels", "ray.io/originated-from-crd"}), "RayService");
}

TEST_F(IncrementalFlow, AnUpgradeMovesCapacityAndTrafficStepByStep) {
  set_image("next");
  std::vector<std::string> steps;
  ASSERT_TRUE(run_until([&] {
    const std::string now =
        fmt::format("{}+{} {}/{}", share("active", "targetCapacity"), share("pending", "targetCapacity"),
                    share("active", "trafficRoutedPercent"), share("pending", "trafficRoutedPercent"));
    if (steps.empty() || steps.back() != now) steps.push_back(now);
    return world_.active() != first_;
  }));
  EXPECT_THAT(steps, ElementsAre("100+-1 100/-1", "100+0 100/-1", "100+0 100/0", "100+50 100/0", "100+50 75/25",
                                 "100+50 50/50", "50+50 50/50", "50+100 50/50", "50+100 25/75", "50+100 0/100",
                                 "0+100 0/100", "100+-1 100/-1"));
  for (int i = 0; i < 3; ++i) round();
  EXPECT_THAT(world_.weights(), ElementsAre(Pair(world_.active(), 100)));
  EXPECT_EQ(world_.selected("llm-head-svc"), world_.active());
  EXPECT_EQ(share("active", "targetCapacity"), 100);
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "False: NoPendingCluster");
  EXPECT_THAT(events_, Contains("UpdatedServeTargetCapacity").Times(4));
  EXPECT_THAT(events_, Contains("UpdatedHTTPRoute"));
  ASSERT_TRUE(run_until([&] { return world_.clusters().size() == 1; }));
  EXPECT_THAT(world_.services(),
              UnorderedElementsAre(Pair("llm-head-svc", testing::_), Pair(world_.active() + "-serve-svc", testing::_)));
}

TEST_F(IncrementalFlow, TrafficMovesNotFasterThanTheInterval) {
  world_.service()["spec"]["upgradeStrategy"]["clusterUpgradeOptions"]["intervalSeconds"] = 60;
  upgrade_to(25);
  const Timestamp moved = world_.now();
  ASSERT_TRUE(run_until([&] { return share("pending", "trafficRoutedPercent") == 50; }));
  EXPECT_GE(world_.now() - moved, std::chrono::seconds(55));
}

TEST_F(IncrementalFlow, TrafficWaitsUntilTheNewCapacityIsServed) {
  set_image("next");
  ASSERT_TRUE(run_until([&] { return !world_.pending().empty(); }));
  world_.ray(world_.pending()).statuses["app"] = "DEPLOYING";
  EXPECT_FALSE(run_until([&] { return share("pending", "trafficRoutedPercent") > 0; }, 20));
  EXPECT_EQ(share("pending", "targetCapacity"), 50);
  world_.ray(world_.pending()).statuses.clear();
  EXPECT_TRUE(run_until([&] { return share("pending", "trafficRoutedPercent") > 0; }));
}

TEST_F(IncrementalFlow, CapacityWaitsUntilTheGatewayIsProgrammed) {
  world_.accepts_gateways = false;
  world_.gateways().at("llm-gateway").erase("status");
  set_image("next");
  EXPECT_FALSE(run_until([&] { return share("pending", "targetCapacity") > 0; }, 20));
  EXPECT_EQ(world_.condition(plan::kChildrenReady), "False: GatewayNotReady");
  world_.accepts_gateways = true;
  EXPECT_TRUE(run_until([&] { return share("pending", "targetCapacity") > 0; }));
}

TEST_F(IncrementalFlow, ASuspensionInTheMiddleEndsForBothClusters) {
  upgrade_to(25);
  const std::string second = world_.pending();
  const auto suspended = [&](const std::string& cluster) {
    return bool_at(world_.clusters().at(cluster), {"spec", "suspend"});
  };
  world_.config()["suspend"] = true;
  ASSERT_TRUE(run_until([&] { return suspended(first_) && suspended(second); }));
  world_.config()["suspend"] = false;
  ASSERT_TRUE(run_until([&] { return !suspended(first_) && !suspended(second); }));
  EXPECT_TRUE(run_until([&] { return world_.active() == second; }));
}

TEST_F(IncrementalFlow, ASuspensionThatEndsWithARollbackEndsForBothClusters) {
  const Json before = world_.config();
  upgrade_to(50);
  const std::string second = world_.pending();
  const auto suspended = [&](const std::string& cluster) {
    return bool_at(world_.clusters().at(cluster), {"spec", "suspend"});
  };
  world_.config()["suspend"] = true;
  ASSERT_TRUE(run_until([&] { return suspended(first_) && suspended(second); }));
  world_.config() = before;
  world_.config()["suspend"] = false;
  ASSERT_TRUE(run_until([&] { return !suspended(first_); }));
  EXPECT_FALSE(suspended(second)) << "it has half of the traffic";
}

TEST_F(IncrementalFlow, CapacityFollowsARouteWhoseGenerationIsNotReportedAfterTheInterval) {
  world_.service()["spec"]["upgradeStrategy"]["clusterUpgradeOptions"]["intervalSeconds"] = 60;
  world_.route_generation = -1;
  upgrade_to(50);
  const Timestamp moved = world_.now();
  ASSERT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
  EXPECT_GE(world_.now() - moved, std::chrono::seconds(55));
}

TEST_F(IncrementalFlow, AClusterWithoutAHeadDoesNotStopTheUpgrade) {
  upgrade_to(50);
  world_.places_slices = false;
  world_.ray(first_) = {};
  std::erase_if(world_.pods(), [&](const auto& pod) {
    return string_at(pod.second, {"metadata", "labels", "ray.io/cluster"}) == first_;
  });
  EXPECT_TRUE(run_until([&] { return world_.active() == second_; }));
}

TEST_F(IncrementalFlow, CapacityWaitsForIdleSlicesOfTheOtherCluster) {
  upgrade_to(50);
  const std::string worker = world_.pod_of(first_, "0-");
  world_.pods().at(worker)["spec"]["nodeName"] = "node";
  ASSERT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
  const auto raised = [&] { return share("pending", "targetCapacity") == 100; };
  EXPECT_FALSE(run_until(raised, 6)) << "the worker has no proxy, so no replica";
  world_.ray(first_).proxies = {worker};
  EXPECT_TRUE(run_until(raised, 4));
}

TEST_F(IncrementalFlow, CapacityDoesNotWaitForIdleSlicesForEver) {
  upgrade_to(50);
  world_.pods().at(world_.pod_of(first_, "0-"))["spec"]["nodeName"] = "node";
  const Timestamp moved = world_.now();
  ASSERT_TRUE(run_until([&] { return share("pending", "targetCapacity") == 100; }));
  EXPECT_GE(world_.now() - moved, std::chrono::minutes(2)) << "Ray's time-out, and a minute";
}

TEST_F(IncrementalFlow, TheOldClusterKeepsItsApplicationsWhenItsCapacityChanges) {
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("new-app");
  upgrade_to(50);
  world_.restart_operator();
  ASSERT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
  const auto application = [&](const std::string& cluster) {
    return string_at(world_.ray(cluster).config, {"applications", "0", "name"});
  };
  EXPECT_EQ(application(first_), "app");
  EXPECT_EQ(application(second_), "new-app");
  EXPECT_EQ(world_.capacity(first_), 50);
}

TEST_F(IncrementalFlow, TheNewClusterBeginsWithoutReplicas) {
  set_image("next");
  ASSERT_TRUE(run_until([&] { return !world_.pending().empty() && world_.clusters().size() == 2; }));
  EXPECT_FALSE(world_.clusters().at(world_.pending())["spec"]["workerGroupSpecs"][0].contains("replicas"));
  EXPECT_TRUE(world_.clusters().at(first_)["spec"]["workerGroupSpecs"][0].contains("replicas"));
}

TEST_F(IncrementalFlow, ARevertedEditRollsBack) {
  const Json before = world_.config();
  upgrade_to(50);
  ASSERT_TRUE(run_until([&] { return share("active", "targetCapacity") == 50; }));
  world_.config() = before;
  round();
  EXPECT_EQ(world_.condition(kRollbackInProgress), "True: DesiredClusterSpecChanged");
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
  EXPECT_EQ(world_.pending(), second_) << "it still has traffic";
  ASSERT_TRUE(run_until([&] { return has_rolled_back(); }));
  EXPECT_EQ(world_.capacity(first_), 100);
  EXPECT_EQ(world_.condition(kRollbackInProgress), "");
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "False: NoPendingCluster");
  ASSERT_TRUE(run_until([&] { return world_.clusters().size() == 1; }));
  EXPECT_THAT(world_.weights(), ElementsAre(Pair(first_, 100)));
}

/// The surge holds also while a capacity was sent and is not in the status yet.
TEST_F(IncrementalFlow, ARevertAtAnyTimeKeepsTheSurge) {
  const Json before = world_.config();
  set_image("next");
  for (int begun = 0; begun < 30; ++begun) {
    SCOPED_TRACE(begun);
    const World upgrading = world_;
    world_.config() = before;
    ASSERT_TRUE(run_until([&] { return world_.plan().empty() && has_rolled_back(); }, 120));
    world_ = upgrading;
    world_.step();
    if (begun % 2 == 0) world_.restart_operator();
    world_.advance();
    if (world_.active() != first_) break;
  }
}

/// A capacity that was sent may have taken effect although the status does not have it yet.
TEST_F(IncrementalFlow, ARevertWaitsUntilTheNewClusterHasAcceptedItsCapacity) {
  const Json before = world_.config();
  upgrade_to(50);
  ASSERT_TRUE(run_until([&] { return world_.capacity(second_) == 100; }));
  ASSERT_EQ(share("pending", "targetCapacity"), 50);
  world_.ray(second_).put_status = 503;
  world_.config() = before;
  EXPECT_FALSE(run_until([&] { return world_.capacity(first_) > 50; }, 20));
  world_.ray(second_).put_status = 200;
  EXPECT_TRUE(run_until([&] { return has_rolled_back(); }));
}

TEST_F(IncrementalFlow, ARollbackIsCancelledByTheSpecOfTheUpgrade) {
  const Json before = world_.config();
  upgrade_to(50);
  const Json next = world_.config();
  world_.config() = before;
  round();
  world_.config() = next;
  round();
  EXPECT_EQ(world_.condition(kRollbackInProgress), "");
  ASSERT_TRUE(run_until([&] { return world_.active() == second_; }));
}

TEST_F(IncrementalFlow, AThirdSpecRollsBackAndThenBeginsAnotherUpgrade) {
  upgrade_to(50);
  set_image("third");
  round();
  EXPECT_EQ(world_.condition(kRollbackInProgress), "True: DesiredClusterSpecChanged");
  EXPECT_EQ(world_.condition(kUpToDate), "False: RollbackInProgress");
  EXPECT_EQ(world_.pending(), second_);
  EXPECT_EQ(world_.clusters().size(), 2U);
  ASSERT_TRUE(run_until([&] { return world_.pending() != second_; }));
  EXPECT_EQ(world_.active(), first_);
  EXPECT_NE(world_.pending(), "");
  ASSERT_TRUE(run_until([&] { return world_.active() != first_; }, 160));
  EXPECT_NE(world_.active(), second_);
}

TEST_F(IncrementalFlow, ARevertedEditBeforeTheFirstStepGivesTheNewClusterUpAtOnce) {
  const Json before = world_.config();
  set_image("next");
  round();
  EXPECT_NE(world_.pending(), "");
  world_.config() = before;
  round();
  EXPECT_EQ(world_.pending(), "");
}

TEST_F(IncrementalFlow, ALostActiveClusterLeavesItsTrafficToTheOther) {
  upgrade_to(25);
  world_.clusters().erase(first_);
  events_.clear();
  ASSERT_TRUE(run_until([&] { return world_.active() == second_; }, 2));
  EXPECT_THAT(events_, Contains("RollbackImpossible").Times(1));
  ASSERT_TRUE(run_until([&] { return world_.capacity(second_) == 100; }));
  EXPECT_THAT(world_.weights(), ElementsAre(Pair(second_, 100)));
  EXPECT_THAT(events_, Contains("RollbackImpossible").Times(1));
}

}  // namespace
}  // namespace tpuslice::rayservice
