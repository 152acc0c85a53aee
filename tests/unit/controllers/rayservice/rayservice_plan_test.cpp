#include "controllers/rayservice/rayservice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/spec.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using plan::IsEmptyPlan;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Name of the pending cluster in the status.
std::string pending_of(const plan::Plan& plan) {
  return string_at(plan.status->status, {"pendingServiceStatus", "rayClusterName"});
}

class RayServicePlan : public testing::Test {
 protected:
  RayServicePlan() : world_(a_service()) {}
  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      world_.step();
      world_.advance();
    }
  }
  World world_;
};

TEST_F(RayServicePlan, BeginsWithTheFinalizerAndACluster) {
  const plan::Plan plan = world_.plan();
  const std::string creation = "create RayCluster " + pending_of(plan);
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch RayService llm"), ElementsAre(creation)));
  const Json cluster = action_of(plan, creation).body.make().value();
  const Json& metadata = cluster["metadata"];
  EXPECT_EQ(metadata["name"], pending_of(plan));
  EXPECT_EQ(metadata["labels"]["ray.io/originated-from-crd"], "RayService");
  EXPECT_EQ(metadata["labels"]["ray.io/originated-from-cr-name"], "llm");
  EXPECT_EQ(metadata["annotations"]["ray.io/num-worker-groups"], "1");
  EXPECT_EQ(cluster["spec"], world_.config());
}

TEST_F(RayServicePlan, AnIdleServiceIsNotWritten) {
  ASSERT_LE(world_.settle(), 40);
  const std::size_t writes = world_.writes();
  rounds(5);
  EXPECT_EQ(world_.writes(), writes);
}

TEST_F(RayServicePlan, LastUpdateTimeChangesOnlyWithTheRest) {
  ASSERT_LE(world_.settle(), 40);
  const Json before = world_.service()["status"]["lastUpdateTime"];
  rounds(5);
  EXPECT_EQ(world_.service()["status"]["lastUpdateTime"], before);
}

TEST_F(RayServicePlan, IsEmptyForAServiceOfAnotherManager) {
  world_.service()["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(world_.plan(), IsEmptyPlan());
}

TEST_F(RayServicePlan, ADeletedServiceIsReleasedWhenItsClustersAreGone) {
  ASSERT_LE(world_.settle(), 40);
  world_.delete_service();
  world_.step();
  EXPECT_FALSE(world_.gone());
  world_.advance();
  world_.step();
  EXPECT_TRUE(world_.gone());
}

TEST_F(RayServicePlan, OrphansOfADeletedServiceRunOn) {
  ASSERT_LE(world_.settle(), 40);
  world_.service()["metadata"]["finalizers"].push_back("orphan");
  world_.delete_service();
  world_.step();
  EXPECT_THAT(world_.service()["metadata"]["finalizers"], ElementsAre(Json("orphan")));
  EXPECT_EQ(world_.clusters().size(), 1U);
}

TEST_F(RayServicePlan, ARefusedServiceCreatesNothingAndRecovers) {
  world_.service()["spec"]["serveConfigV2"] = "- a";
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan, HasEvent("InvalidRayServiceSpec"));
  rounds(3);
  EXPECT_THAT(world_.clusters(), IsEmpty());
  EXPECT_EQ(world_.condition(plan::kAccepted), "False: InvalidSpec");
  EXPECT_EQ(world_.condition(kReady), "False: ValidationFailed");
  world_.service()["spec"]["serveConfigV2"] = a_serve_config("app");
  ASSERT_LE(world_.settle(), 40);
  EXPECT_EQ(world_.condition(plan::kAccepted), "True: Accepted");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServicePlan, ClustersAndServicesGoOnWhileAnEditIsRefused) {
  ASSERT_LE(world_.settle(), 40);
  world_.config()["networkPolicy"]["mode"] = "DenyAll";
  ASSERT_LE(world_.settle(), 40);
  EXPECT_EQ(world_.condition(plan::kAccepted), "False: UnsupportedField");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
  EXPECT_EQ(world_.clusters().size(), 1U);
  EXPECT_EQ(world_.services().size(), 2U);
}

TEST_F(RayServicePlan, SaysWhichContainerOfItsClusterCannotStart) {
  rounds(1);
  Json& cluster = world_.clusters().begin()->second;
  set_condition(cluster["status"]["conditions"],
                {std::string(plan::kContainersStarted), "False", std::string(plan::kContainersStuck),
                 "pod llm-head: container ray-head: ImagePullBackOff", std::nullopt},
                world_.now());
  world_.step();
  const Json* ready = find_condition(world_.service()["status"]["conditions"], kReady);
  ASSERT_NE(ready, nullptr);
  EXPECT_THAT(string_at(*ready, {"message"}), HasSubstr(": pod llm-head: container ray-head: ImagePullBackOff"));
}

TEST_F(RayServicePlan, TheInitializingTimeoutIsFinal) {
  world_.service()["metadata"]["annotations"]["ray.io/initializing-timeout"] = "30s";
  world_.step();
  world_.ray(world_.pending()).statuses["app"] = "DEPLOYING";
  EXPECT_GT(world_.plan().requeue_after.value_or(Duration::zero()), Duration::zero());
  world_.advance();
  for (int i = 0; i < 12; ++i) rounds(1);
  EXPECT_EQ(world_.condition(kReady), "False: InitializingTimeout");
  EXPECT_EQ(world_.pending(), "");
  EXPECT_THAT(world_.clusters(), IsEmpty());
  EXPECT_THAT(world_.plan(), IsEmptyPlan());
  const Json* ready = find_condition(world_.service()["status"]["conditions"], kReady);
  EXPECT_THAT(string_at(*ready, {"message"}),
              AllOf(HasSubstr("timeout of 30s"), HasSubstr("application app of RayCluster "),
                    HasSubstr(" is DEPLOYING. Its clusters are deleted"), HasSubstr("set spec.suspend")));
  for (const std::string_view type :
       {kUpgradeInProgress, kUpToDate, kServeConfigApplied, plan::kSlicesPlaced, plan::kChildrenReady}) {
    EXPECT_EQ(world_.condition(type), "False: InitializingTimeout") << type;
  }

  world_.service()["metadata"]["generation"] = 9;
  world_.service()["spec"]["serveConfigV2"] = "a: [";
  world_.step();
  EXPECT_EQ(world_.condition(plan::kAccepted), "False: InvalidSpec");
  for (const Json& each : world_.service()["status"]["conditions"]) {
    EXPECT_EQ(each["observedGeneration"] == 9, each["status"] != "True") << each;
  }
}

TEST_F(RayServicePlan, TheTimeoutEndsWithTheInitialization) {
  world_.service()["metadata"]["annotations"]["ray.io/initializing-timeout"] = "60";
  ASSERT_LE(world_.settle(), 40);
  rounds(20);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServicePlan, WithoutEndpointsTheServiceIsNotReady) {
  ASSERT_LE(world_.settle(), 40);
  for (auto& [name, pod] : world_.pods()) pod["status"]["conditions"][0]["status"] = "False";
  world_.step();
  EXPECT_EQ(world_.condition(kReady), "False: ZeroServeEndpoints");
  EXPECT_FALSE(world_.service()["status"].contains("serviceStatus"));
}

TEST_F(RayServicePlan, AClusterWithoutAHeadDoesNotHoldBackTheOther) {
  ASSERT_LE(world_.settle(), 40);
  const std::string first = world_.active();
  world_.config()["rayVersion"] = "2.60.0";
  world_.step();
  world_.clusters().at(world_.pending())["spec"]["suspend"] = true;  // As a queue holds it.
  world_.advance();
  rounds(3);
  world_.ray(first).statuses["app"] = "UNHEALTHY";
  rounds(3);
  EXPECT_EQ(world_.service()["status"]["activeServiceStatus"]["applicationStatuses"]["app"]["status"], "UNHEALTHY");
}

TEST_F(RayServicePlan, AFailedCreationIsReported) {
  RayServiceObserved seen = world_.observed();
  seen.last_failure = plan::Failure{std::string(kFailedRayCluster), "rayclusters is forbidden"};
  const plan::Plan plan = plan_rayservice(seen, {});
  EXPECT_THAT(plan.status->status.dump(), HasSubstr("rayclusters is forbidden"));
}

TEST_F(RayServicePlan, AFailedCreationIsTriedAgainLater) {
  RayServiceObserved seen = world_.observed();
  seen.last_failure = plan::Failure{std::string(kFailedRayCluster), "exceeded quota"};
  seen.last_failure->time = seen.now - std::chrono::seconds(10);
  const plan::Plan waits = plan_rayservice(seen, {});
  EXPECT_THAT(writes_of(waits, "create RayCluster"), IsEmpty());
  EXPECT_TRUE(waits.keeps_failure);
  EXPECT_EQ(waits.requeue_after, Duration(plan::kRefusalRetry - std::chrono::seconds(10)));
  seen.last_failure->time = seen.now - plan::kRefusalRetry;
  EXPECT_THAT(writes_of(plan_rayservice(seen, {}), "create RayCluster"), SizeIs(1));
}

TEST_F(RayServicePlan, EventsAreThoseOfTheActions) {
  const plan::Plan plan = world_.plan();
  const plan::Action creation = action_of(plan, "create RayCluster " + pending_of(plan));
  ASSERT_NE(creation.events, nullptr);
  ASSERT_EQ(creation.events->on_success.size(), 1U);
  EXPECT_EQ(creation.events->on_success[0].reason, "CreatedRayCluster");
  ASSERT_EQ(creation.events->on_failure.size(), 1U);
  EXPECT_EQ(creation.events->on_failure[0].reason, "FailedToCreateRayCluster");
  EXPECT_THAT(plan.events, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rayservice
