// Upgrades: which cluster serves, and which one takes its place.
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
using testing::Not;
using testing::SizeIs;

constexpr int kSettled = 40;

class RayServiceUpgrade : public testing::Test {
 protected:
  RayServiceUpgrade() : world_(a_service()) { start(); }

  void start() {
    ASSERT_LE(world_.settle(), kSettled);
    first_ = world_.active();
    ASSERT_NE(first_, "");
  }
  void set_image(const std::string& image) {
    world_.config()["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["image"] = image;
  }
  // Plans and lets time pass until the condition holds.
  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition, int limit = 40) {
    for (int i = 0; i < limit && !condition(); ++i) {
      world_.step();
      world_.advance();
    }
    return condition();
  }
  [[nodiscard]] Json& groups_of(const std::string& cluster) {
    return world_.clusters().at(cluster)["spec"]["workerGroupSpecs"];
  }

  World world_;
  std::string first_;
};

TEST_F(RayServiceUpgrade, TheFirstClusterServesOnceItsApplicationsRun) {
  EXPECT_EQ(world_.selected("llm-serve-svc"), first_);
  EXPECT_EQ(world_.selected("llm-head-svc"), first_);
  EXPECT_EQ(world_.pending(), "");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "False: NoPendingCluster");
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
  EXPECT_EQ(string_at(world_.service(), {"status", "serviceStatus"}), "Running");
  EXPECT_EQ(world_.service()["status"]["numServeEndpoints"], 2);
}

TEST_F(RayServiceUpgrade, AnotherConfigMakesAPendingClusterThatTakesOverWhenItServes) {
  set_image("next");
  const plan::Plan plan = world_.step();
  const std::string second = world_.pending();
  ASSERT_NE(second, "");
  EXPECT_THAT(writes_of(plan, "create RayCluster"), ElementsAre("create RayCluster " + second));
  EXPECT_THAT(plan, HasEvent("CreatedRayCluster"));
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "True: BothActivePendingClustersExist");
  EXPECT_EQ(world_.active(), first_);

  world_.ray(second).statuses["app"] = "DEPLOYING";
  for (int i = 0; i < 10; ++i) {
    world_.step();
    world_.advance();
    EXPECT_EQ(world_.selected("llm-serve-svc"), first_);
  }
  world_.ray(second).statuses.clear();
  ASSERT_TRUE(run_until([&] { return world_.active() == second; }));
  EXPECT_EQ(world_.selected("llm-serve-svc"), second);
  EXPECT_EQ(world_.selected("llm-head-svc"), second);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

/// A write that is refused before those of the services leaves them on the old cluster.
TEST_F(RayServiceUpgrade, OnlyTheClusterThatTheServicesSelectIsActive) {
  for (const std::string_view kind : {raycluster::kRayClusters.kind, kPods.kind, kServices.kind}) {
    World world = world_;
    world.config()["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["image"] = "next";
    int refused = 0;
    world.refuse([&](const plan::Action& action) -> std::optional<Error> {
      if (action.kind != plan::ActionKind::kPatch || action.type.kind != kind) return std::nullopt;
      ++refused;
      return Error::of(ErrorCode::kForbidden, "denied");
    });
    for (int i = 0; i < 20; ++i) {
      world.step();
      // As the controller does after a failure.
      if (const plan::Plan next = world.plan(); world.last_failure() && next.status) world.apply(*next.status);
      EXPECT_EQ(world.active(), world.selected("llm-serve-svc")) << kind << " refused, round " << i;
      world.advance();
    }
    world.refuse(nullptr);
    for (int i = 0; i < 20; ++i) {
      world.step();
      world.advance();
    }
    EXPECT_NE(world.active(), first_) << kind;
    EXPECT_GT(refused, 0) << kind;
  }
}

TEST_F(RayServiceUpgrade, TheOldClusterIsDeletedAfterADelayThatSurvivesARestart) {
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.active() != first_; }));
  const Timestamp switched = world_.now();
  world_.step();
  EXPECT_NE(string_at(world_.clusters().at(first_), {"metadata", "annotations", kDeleteAfter}), "");
  world_.restart_operator();
  ASSERT_TRUE(run_until([&] { return !world_.clusters().contains(first_); }));
  EXPECT_GE(world_.now() - switched, std::chrono::seconds(55));
  EXPECT_LE(world_.now() - switched, std::chrono::seconds(75));
}

TEST_F(RayServiceUpgrade, WithoutDelayTheOldClusterIsDeletedAtTheSwitch) {
  world_.service()["spec"]["rayClusterDeletionDelaySeconds"] = 0;
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.active() != first_; }));
  EXPECT_TRUE(run_until([&] { return !world_.clusters().contains(first_); }, 2));
}

TEST_F(RayServiceUpgrade, ServicesWaitForAnEndpointOfTheNewClusterAsLongAsTheOldOneHasOne) {
  world_.service()["spec"]["excludeHeadPodFromServeSvc"] = true;
  ASSERT_LE(world_.settle(), kSettled);
  set_image("next");
  ASSERT_TRUE(run_until([&] { return !world_.pod_of(world_.pending(), "0-").empty(); }));
  const std::string second = world_.pending();
  Json& worker = world_.pods().at(world_.pod_of(second, "0-"));
  worker["status"]["conditions"][0]["status"] = "False";
  EXPECT_FALSE(run_until([&] { return world_.active() == second; }, 10));
  world_.pods().at(world_.pod_of(second, "0-"))["status"]["conditions"][0]["status"] = "True";
  EXPECT_TRUE(run_until([&] { return world_.active() == second; }));
}

TEST_F(RayServiceUpgrade, AnEditDuringAnUpgradeReplacesThePendingCluster) {
  set_image("next");
  world_.step();
  const std::string second = world_.pending();
  world_.advance();
  set_image("third");
  const plan::Plan plan = world_.step();
  EXPECT_NE(world_.pending(), second);
  EXPECT_THAT(writes_of(plan, "delete RayCluster"), ElementsAre("delete RayCluster " + second));
  EXPECT_EQ(world_.active(), first_);
}

TEST_F(RayServiceUpgrade, ARevertedEditGivesThePendingClusterUp) {
  const Json before = world_.config();
  set_image("next");
  world_.step();
  const std::string second = world_.pending();
  world_.advance();
  world_.config() = before;
  EXPECT_THAT(writes_of(world_.step(), "delete RayCluster"), ElementsAre("delete RayCluster " + second));
  EXPECT_EQ(world_.pending(), "");
  EXPECT_EQ(world_.active(), first_);
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "False: NoPendingCluster");
}

TEST_F(RayServiceUpgrade, AnEditThatIsRevertedAfterTheSwitchUsesTheOldClusterAgain) {
  const Json before = world_.config();
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.active() != first_; }));
  world_.config() = before;
  ASSERT_TRUE(run_until([&] { return world_.active() == first_ && world_.clusters().size() == 1; }));
  EXPECT_FALSE(world_.clusters().at(first_)["metadata"]["annotations"].contains(kDeleteAfter));
}

TEST_F(RayServiceUpgrade, AConfigOfBeforeAnInPlaceUpdateGetsAClusterOfAnotherName) {
  const Json before = world_.config();
  Json group = world_.config()["workerGroupSpecs"][0];
  group["groupName"] = "second";
  world_.config()["workerGroupSpecs"].push_back(group);
  ASSERT_LE(world_.settle(), kSettled);
  world_.config() = before;
  world_.step();
  EXPECT_NE(world_.pending(), "");
  EXPECT_NE(world_.pending(), first_);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_NE(world_.active(), first_);
}

TEST_F(RayServiceUpgrade, AppendedGroupsAreAddedInPlace) {
  groups_of(first_)[0]["replicas"] = 3;  // As an autoscaler does.
  Json group = world_.config()["workerGroupSpecs"][0];
  group["groupName"] = "second";
  world_.config()["workerGroupSpecs"].push_back(group);
  EXPECT_THAT(world_.step(), HasEvent("UpdatedRayCluster"));
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), first_);
  EXPECT_THAT(world_.clusters(), SizeIs(1));
  ASSERT_THAT(groups_of(first_), SizeIs(2));
  EXPECT_EQ(groups_of(first_)[0]["replicas"], 3);
  EXPECT_EQ(groups_of(first_)[1]["groupName"], "second");
}

TEST_F(RayServiceUpgrade, EditsOfReplicasArriveInPlace) {
  world_.config()["workerGroupSpecs"][0]["replicas"] = 2;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), first_);
  EXPECT_EQ(groups_of(first_)[0]["replicas"], 2);
  // Others may change them afterwards.
  groups_of(first_)[0]["replicas"] = 4;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(groups_of(first_)[0]["replicas"], 4);
}

TEST_F(RayServiceUpgrade, EditsOfLabelsAndAnnotationsArriveWithTheNextUpdateInPlace) {
  world_.clusters().at(first_)["metadata"]["labels"]["mine"] = "kept";
  world_.service()["metadata"]["labels"]["team"] = "a";
  world_.service()["metadata"]["annotations"]["note"] = "b";
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_FALSE(world_.clusters().at(first_)["metadata"]["labels"].contains("team"));
  world_.config()["workerGroupSpecs"][0]["replicas"] = 2;
  ASSERT_LE(world_.settle(), kSettled);
  const Json& updated = world_.clusters().at(first_)["metadata"];
  EXPECT_EQ(updated["labels"]["team"], "a");
  EXPECT_EQ(updated["labels"]["mine"], "kept");
  EXPECT_EQ(updated["annotations"]["note"], "b");
}

TEST_F(RayServiceUpgrade, WithTheAutoscalerOnlyTheLimitsOfReplicasArrive) {
  world_ = World(a_service());
  world_.config()["enableInTreeAutoscaling"] = true;
  start();
  groups_of(first_)[0]["replicas"] = 3;
  world_.config()["workerGroupSpecs"][0]["replicas"] = 2;
  world_.config()["workerGroupSpecs"][0]["maxReplicas"] = 9;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(groups_of(first_)[0]["replicas"], 3);
  EXPECT_EQ(groups_of(first_)[0]["maxReplicas"], 9);
}

TEST_F(RayServiceUpgrade, WithNoneAnotherConfigIsReportedAndNotApplied) {
  world_.service()["spec"]["upgradeStrategy"]["type"] = "None";
  set_image("next");
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan, HasEvent("UpgradeDisabled"));
  EXPECT_EQ(world_.condition(kUpToDate), "False: UpgradeDisabled");
  EXPECT_THAT(world_.clusters(), SizeIs(1));
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), first_);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  world_.clusters().erase(first_);
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_NE(world_.active(), first_);
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
}

TEST_F(RayServiceUpgrade, AClusterOfAnotherOperatorIsUpdatedInPlace) {
  Json& annotations = world_.clusters().at(first_)["metadata"]["annotations"];
  annotations[std::string(kClusterHashVersion)] = "v1.6.0";
  annotations[std::string(kClusterHash)] = "0123";
  annotations.erase(std::string(kReplicas));
  annotations.erase(std::string(kServeConfig));
  world_.clusters().at(first_)["spec"]["suspend"] = false;
  set_image("next");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), first_);
  EXPECT_THAT(world_.clusters(), SizeIs(1));
  EXPECT_EQ(groups_of(first_)[0]["template"]["spec"]["containers"][0]["image"], "next");
  EXPECT_EQ(world_.clusters().at(first_)["spec"]["suspend"], false);
  EXPECT_EQ(world_.condition(kUpToDate), "True: UpToDate");
}

TEST_F(RayServiceUpgrade, AnUpgradeOfAnotherOperatorGoesOn) {
  set_image("next");
  world_.step();
  const std::string second = world_.pending();
  for (auto& [name, cluster] : world_.clusters())
    cluster["metadata"]["annotations"][std::string(kClusterHashVersion)] = "v1.6.0";
  world_.advance();
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), second);
}

TEST_F(RayServiceUpgrade, ASwitchThatWasCutIsCompleted) {
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.plan().reason.find("the services select it") != std::string::npos; }));
  const std::string second = world_.pending();
  const plan::Plan plan = world_.plan();
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.key.name != "llm-serve-svc") continue;
      EXPECT_TRUE(world_.apply(action).ok());
    }
  }
  world_.restart_operator();
  world_.step();
  EXPECT_EQ(world_.active(), second);
  EXPECT_EQ(world_.selected("llm-head-svc"), second);
}

TEST_F(RayServiceUpgrade, ARetiredClusterThatAnotherWriterSelectsDoesNotServeAgain) {
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.active() != first_; }));
  const std::string second = world_.active();
  world_.step();
  ASSERT_TRUE(world_.clusters().contains(first_)) << "within its deletion delay";
  for (const char* service : {"llm-serve-svc", "llm-head-svc"}) {
    world_.services().at(service)["spec"]["selector"][std::string(raycluster::kRayCluster)] = first_;
  }
  world_.step();
  EXPECT_EQ(world_.active(), second);
  EXPECT_EQ(world_.pending(), "");
  EXPECT_EQ(world_.selected("llm-serve-svc"), second);
  EXPECT_EQ(world_.selected("llm-head-svc"), second);
}

TEST_F(RayServiceUpgrade, ALostStatusIsFoundAgain) {
  world_.service().erase("status");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), first_);
  EXPECT_THAT(world_.clusters(), SizeIs(1));
}

TEST_F(RayServiceUpgrade, WithoutRoomSaysThatItWaits) {
  world_.places_slices = false;
  set_image("next");
  ASSERT_TRUE(run_until([&] {
    const plan::Plan plan = world_.plan();
    return std::ranges::any_of(plan.events,
                               [](const plan::EventIntent& each) { return each.reason == "SliceWaiting"; });
  }));
  world_.step();
  EXPECT_EQ(world_.condition(plan::kSlicesPlaced), "False: NodesInUse");
  EXPECT_THAT(world_.plan(), Not(HasEvent("SliceWaiting"))) << "once";
}

TEST_F(RayServiceUpgrade, WithoutRoomTheUserIsAsked) {
  world_.places_slices = false;
  set_image("next");
  ASSERT_TRUE(run_until([&] { return world_.condition(plan::kSlicesPlaced) == "False: NoRoomForUpgrade"; }));
  EXPECT_THAT(world_.service()["status"]["conditions"].dump(), HasSubstr("tpuslice.dev/upgrade-without-room=replace"));
  EXPECT_FALSE(run_until([&] { return !world_.clusters().contains(first_); }));
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_TRUE(world_.plan().empty());
}

TEST_F(RayServiceUpgrade, WithoutRoomTheOldClusterIsDeletedFirstIfTheUserWantsIt) {
  world_.service()["metadata"]["annotations"]["tpuslice.dev/upgrade-without-room"] = "replace";
  world_.places_slices = false;
  set_image("next");
  world_.step();
  const std::string second = world_.pending();
  ASSERT_TRUE(run_until([&] { return !world_.clusters().contains(first_); }));
  EXPECT_EQ(world_.pending(), second);
  EXPECT_EQ(world_.condition(kUpgradeInProgress), "True: BothActivePendingClustersExist");
  world_.places_slices = true;
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_EQ(world_.active(), second);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceUpgrade, AClusterWithOurLabelsAndAnotherOwnerIsNotTouched) {
  Json other = world_.clusters().at(first_);
  other["metadata"]["name"] = "llm-other";
  other["metadata"]["ownerReferences"][0]["uid"] = "another-uid";
  world_.add_cluster(other);
  set_image("next");
  ASSERT_LE(world_.settle(), kSettled);
  EXPECT_TRUE(world_.clusters().contains("llm-other"));
}

TEST_F(RayServiceUpgrade, NamesAreDerived) {
  World again(a_service());
  again.settle();
  EXPECT_EQ(again.active(), first_);
  EXPECT_THAT(first_, testing::MatchesRegex("llm-[a-z0-9]{5}"));
}

}  // namespace
}  // namespace tpuslice::rayservice
