// rayClusterConfig.suspend: all clusters are suspended in place, and one of them is resumed or replaced.
#include "controllers/rayservice/cluster_suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

constexpr int kSettled = 40;

class RayServiceClusterSuspension : public testing::Test {
 protected:
  RayServiceClusterSuspension() : world_(a_service()) { start(); }

  void start() {
    ASSERT_LE(world_.settle(), kSettled);
    first_ = world_.active();
    ASSERT_NE(first_, "");
    pods_ = world_.config()["headGroupSpec"]["template"];
  }
  /// As the API server does for a change of the spec.
  void edit() { ++world_.service()["metadata"]["generation"].get_ref<Json::number_integer_t&>(); }
  void set_suspend(bool suspend) {
    edit();
    world_.config()["suspend"] = suspend;
  }
  /// As Kueue does when it admits the service: pods of the head have a label, and perhaps other nodes.
  void admit(const std::string& flavor = "reserved") {
    set_suspend(false);
    Json& pods = world_.config()["headGroupSpec"]["template"];
    pods["metadata"]["labels"]["kueue.x-k8s.io/podset"] = "head";
    pods["spec"]["nodeSelector"]["flavor"] = flavor;
  }
  /// As Kueue does when it evicts the service.
  void evict() {
    set_suspend(true);
    world_.config()["headGroupSpec"]["template"] = pods_;
  }
  /// Kueue suspends the RayCluster of an evicted service itself.
  void suspend_by_queue(const std::string& cluster) { spec_of(cluster)["suspend"] = true; }

  [[nodiscard]] Json& spec_of(const std::string& cluster) { return world_.clusters().at(cluster)["spec"]; }
  [[nodiscard]] std::string record_of(const std::string& cluster) {
    return string_at(world_.clusters().at(cluster), {"metadata", "annotations", kSuspend});
  }
  [[nodiscard]] std::vector<std::string> running_clusters() {
    std::vector<std::string> out;
    for (const auto& [name, cluster] : world_.clusters()) {
      if (!bool_at(cluster, {"spec", "suspend"})) out.push_back(name);
    }
    return out;
  }
  /// Reconciles until nothing changes, while at most one cluster runs.
  void settle_with_one_running() {
    for (int round = 0; round < kSettled; ++round) {
      world_.step();
      EXPECT_LE(running_clusters().size(), 1U) << "round " << round;
      world_.advance();
    }
    ASSERT_LE(world_.settle(), kSettled);
  }

  World world_;
  std::string first_;
  Json pods_;  ///< Template of the head before an admission.
};

TEST_F(RayServiceClusterSuspension, SuspendsTheClusterInPlaceOnce) {
  set_suspend(true);
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan, HasEvent("UpdatedRayCluster"));
  EXPECT_THAT(plan.reason, HasSubstr("rayClusterConfig.suspend is true"));
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  EXPECT_EQ(record_of(first_), "true.2");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_THAT(world_.clusters(), ElementsAre(Key(first_)));
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_TRUE(world_.plan().empty());
}

TEST_F(RayServiceClusterSuspension, IsReported) {
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.condition(kReady), "False: RayClusterSuspended");
  EXPECT_EQ(world_.condition(plan::kSlicesPlaced), "False: Suspended");
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
  EXPECT_EQ(world_.active(), first_);
  set_suspend(false);
  world_.step();
  EXPECT_EQ(world_.condition(kReady), "False: Initializing");
}

TEST_F(RayServiceClusterSuspension, ResumesTheClusterInPlace) {
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  set_suspend(false);
  EXPECT_THAT(world_.step().reason, HasSubstr("rayClusterConfig.suspend is not true"));
  EXPECT_EQ(record_of(first_), "false.3");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_THAT(world_.clusters(), ElementsAre(Key(first_)));
  EXPECT_EQ(spec_of(first_)["suspend"], false);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_EQ(world_.selected("llm-serve-svc"), first_);
}

TEST_F(RayServiceClusterSuspension, ResumesWhenTheFieldIsRemoved) {
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  edit();
  world_.config().erase("suspend");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
  EXPECT_EQ(record_of(first_), "");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, AServiceThatIsCreatedSuspendedStartsWithItsCluster) {
  World world(a_service());
  world.config()["suspend"] = true;
  ASSERT_LE(world.settle(), kSettled);
  const std::string pending = world.pending();
  EXPECT_THAT(world.clusters(), ElementsAre(Key(pending))) << "as upstream";
  EXPECT_THAT(world.pods(), IsEmpty());
  EXPECT_EQ(world.condition(kReady), "False: RayClusterSuspended");
  world.config()["suspend"] = false;
  ASSERT_LE(world.settle(), kSettled);
  EXPECT_EQ(world.active(), pending);
  EXPECT_THAT(world.clusters(), SizeIs(1));
  EXPECT_EQ(world.condition(kReady), "True: NonZeroServeEndpoints");
}

/// As Kueue: labels of the pods come and go with the admission.
TEST_F(RayServiceClusterSuspension, AnAdmittedServiceIsPreemptedAndResumed) {
  World world(a_service());
  world.config()["suspend"] = true;
  world_ = world;
  ASSERT_LE(world_.settle(), kSettled);
  admit();
  settle_with_one_running();
  const std::string admitted = world_.active();
  EXPECT_THAT(world_.clusters(), ElementsAre(Key(admitted)));

  evict();
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_THAT(world_.clusters(), ElementsAre(Key(admitted))) << "no cluster is made beside it";
  EXPECT_EQ(world_.pending(), "");
  EXPECT_THAT(world_.pods(), IsEmpty());
  EXPECT_EQ(world_.condition(kUpToDate), "False: Suspended");
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "False: NoPendingCluster");

  admit();
  settle_with_one_running();
  EXPECT_THAT(world_.clusters(), ElementsAre(Key(admitted))) << "it is used again";
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, AServiceThatIsAdmittedToOtherNodesGetsAnotherCluster) {
  evict();
  ASSERT_LE(world_.settle(), kSettled);
  admit("spot");
  const plan::Plan plan = world_.step();
  const std::string second = world_.pending();
  EXPECT_THAT(writes_of(plan, "create RayCluster"), ElementsAre("create RayCluster " + second));
  EXPECT_THAT(running_clusters(), ElementsAre(second)) << "the suspended one is replaced, not resumed";
  settle_with_one_running();
  EXPECT_EQ(world_.active(), second);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

/// Neither strategy runs both clusters here, so that with None the service would never start.
TEST_F(RayServiceClusterSuspension, ASuspendedClusterIsReplacedWithUpgradesDisabledAsWell) {
  world_.service()["spec"]["upgradeStrategy"]["type"] = "None";
  evict();
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  admit();
  settle_with_one_running();
  EXPECT_NE(world_.active(), first_);
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, BothClustersOfAnUpgradeAreSuspendedAndTheNewOneIsResumed) {
  admit();
  world_.step();
  world_.advance();
  world_.step();
  const std::string second = world_.pending();
  ASSERT_NE(second, "");
  ASSERT_EQ(world_.active(), first_);
  set_suspend(true);
  world_.step();
  EXPECT_THAT(running_clusters(), IsEmpty());
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_THAT(world_.clusters(), SizeIs(2));
  EXPECT_THAT(world_.pods(), IsEmpty());
  set_suspend(false);
  settle_with_one_running();
  EXPECT_EQ(world_.active(), second);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, AnOldClusterThatWaitsForItsDeletionIsSuspendedAsWell) {
  admit();
  for (int i = 0; i < kSettled && world_.active() == first_; ++i) {
    world_.step();
    world_.advance();
  }
  world_.step();
  ASSERT_THAT(world_.clusters(), Contains(Key(first_)));
  set_suspend(true);
  world_.step();
  EXPECT_THAT(running_clusters(), IsEmpty());
}

TEST_F(RayServiceClusterSuspension, WithoutRoomTheOldClusterIsNotDeletedForASuspendedOne) {
  world_.service()["metadata"]["annotations"]["tpuslice.dev/upgrade-without-room"] = "replace";
  world_.places_slices = false;
  admit();
  world_.step();
  world_.advance();
  set_suspend(true);
  world_.pass(std::chrono::minutes(10));
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_THAT(world_.clusters(), Contains(Key(first_)));
}

TEST_F(RayServiceClusterSuspension, WhatAQueueDoesWithTheClusterAfterwardsStays) {
  edit();
  world_.config()["suspend"] = true;
  ASSERT_LE(world_.settle(), kSettled);
  spec_of(first_)["suspend"] = false;
  ASSERT_LE(world_.settle(), kSettled);
  edit();
  world_.service()["spec"]["excludeHeadPodFromServeSvc"] = true;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
}

TEST_F(RayServiceClusterSuspension, AClusterThatAQueueHasSuspendedStaysSoWithoutAnEdit) {
  suspend_by_queue(first_);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], true) << "rayClusterConfig has no suspend";
  edit();
  world_.service()["spec"]["excludeHeadPodFromServeSvc"] = true;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  EXPECT_EQ(world_.condition(kReady), "False: RayClusterSuspended");
}

TEST_F(RayServiceClusterSuspension, AChangeToTrueAndBackThatWasNotSeenIsCompleted) {
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  set_suspend(false);
  ASSERT_LE(world_.settle(), kSettled);
  suspend_by_queue(first_);
  EXPECT_THAT(writes_of(world_.step(), "patch RayCluster"), IsEmpty()) << "Kueue is about to suspend the service";
  set_suspend(true);
  set_suspend(false);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, AClusterThatAnEarlierVersionLeftSuspendedIsResumed) {
  spec_of(first_)["suspend"] = true;
  world_.config()["suspend"] = false;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
}

/// KubeRay's operator leaves a cluster running that Kueue has preempted.
TEST_F(RayServiceClusterSuspension, AClusterOfAnotherOperatorIsSuspendedAndResumed) {
  world_.clusters().at(first_)["metadata"]["annotations"][std::string(kClusterHashVersion)] = "v1.7.0";
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  world_.clusters().at(first_)["metadata"]["annotations"][std::string(kClusterHashVersion)] = "v1.7.0";
  world_.clusters().at(first_)["metadata"]["annotations"].erase(std::string(kSuspend));
  set_suspend(false);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
  EXPECT_THAT(world_.clusters(), SizeIs(1));
}

TEST_F(RayServiceClusterSuspension, PodsOfAResumedClusterHaveThePresentTolerationsAndGates) {
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  set_suspend(false);
  const Json tolerations = Json::array({{{"key", "spot"}, {"operator", "Exists"}}});
  const Json gates = Json::array({{{"name", "kueue.x-k8s.io/elastic-job"}}});
  world_.config()["headGroupSpec"]["template"]["spec"]["tolerations"] = tolerations;
  world_.config()["workerGroupSpecs"][0]["template"]["spec"]["schedulingGates"] = gates;
  world_.step();
  EXPECT_EQ(spec_of(first_)["headGroupSpec"]["template"]["spec"]["tolerations"], tolerations);
  EXPECT_EQ(spec_of(first_)["workerGroupSpecs"][0]["template"]["spec"]["schedulingGates"], gates);
}

TEST_F(RayServiceClusterSuspension, ComesWithOtherChangesInOneUpdate) {
  set_suspend(true);
  world_.config()["workerGroupSpecs"][0]["replicas"] = 3;
  const plan::Plan plan = world_.step();
  EXPECT_THAT(writes_of(plan, "patch RayCluster"), SizeIs(1));
  EXPECT_THAT(plan.reason, HasSubstr("numbers of replicas have changed, and rayClusterConfig.suspend is true"));
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  EXPECT_EQ(spec_of(first_)["workerGroupSpecs"][0]["replicas"], 3);
}

/// A queue gets the chips back whatever else the spec says.
TEST_F(RayServiceClusterSuspension, SuspendsWhileTheSpecIsRefusedAndDoesNotResume) {
  world_.service()["spec"]["serveConfigV2"] = "- a";
  set_suspend(true);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.condition("tpuslice.dev/Accepted"), "False: InvalidSpec");
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  set_suspend(false);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], true);
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("app");
  edit();
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(spec_of(first_)["suspend"], false);
}

/// The time in a queue is no time of initialization.
TEST_F(RayServiceClusterSuspension, TheInitializingTimeoutBeginsWhenTheClusterIsResumed) {
  Json service = a_service();
  service["metadata"]["annotations"]["ray.io/initializing-timeout"] = "120s";
  service["spec"]["rayClusterConfig"]["suspend"] = true;
  World world(service);
  ASSERT_LE(world.settle(), kSettled);
  world.pass(std::chrono::hours(1));
  ASSERT_LE(world.settle(), kSettled);
  EXPECT_EQ(world.condition(kReady), "False: RayClusterSuspended");
  world.config()["suspend"] = false;
  ++world.service()["metadata"]["generation"].get_ref<Json::number_integer_t&>();
  ASSERT_LE(world.settle(), kSettled);
  EXPECT_EQ(world.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceClusterSuspension, ADeletedClusterIsNotPatched) {
  admit();
  world_.step();
  world_.advance();
  const std::string second = world_.pending();
  evict();
  const plan::Plan plan = world_.step();
  EXPECT_THAT(writes_of(plan, "delete RayCluster"), ElementsAre("delete RayCluster " + second));
  EXPECT_THAT(writes_of(plan, "patch RayCluster"), Not(Contains(HasSubstr(second))));
  EXPECT_EQ(spec_of(first_)["suspend"], true);
}

}  // namespace
}  // namespace tpuslice::rayservice
