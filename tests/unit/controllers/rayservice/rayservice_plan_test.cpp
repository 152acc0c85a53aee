#include "controllers/rayservice/rayservice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/spec.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using plan::HasEvent;
using plan::IsEmptyPlan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RayServicePlan : public testing::Test {
 protected:
  RayServicePlan() : world_(a_service()) {}
  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      world_.reconcile();
      world_.advance();
    }
  }
  World world_;
};

TEST_F(RayServicePlan, BeginsWithTheFinalizerAndACluster) {
  const plan::Plan plan = world_.plan();
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[0].actions[0].type, kRayServices);
  EXPECT_EQ(plan.stages[1].actions[0].kind, plan::ActionKind::kCreate);
  const Json cluster = plan.stages[1].actions[0].body.make().value();
  const Json& metadata = cluster["metadata"];
  EXPECT_EQ(metadata["labels"]["ray.io/originated-from-crd"], "RayService");
  EXPECT_EQ(metadata["labels"]["ray.io/originated-from-cr-name"], "llm");
  EXPECT_EQ(metadata["annotations"]["ray.io/num-worker-groups"], "1");
  EXPECT_EQ(cluster["spec"], world_.config());
  EXPECT_EQ(string_at(plan.status->status, {"pendingServiceStatus", "rayClusterName"}), metadata["name"]);
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
  world_.reconcile();
  EXPECT_FALSE(world_.gone());
  world_.advance();
  world_.reconcile();
  EXPECT_TRUE(world_.gone());
}

TEST_F(RayServicePlan, OrphansOfADeletedServiceRunOn) {
  ASSERT_LE(world_.settle(), 40);
  world_.service()["metadata"]["finalizers"].push_back("orphan");
  world_.delete_service();
  world_.reconcile();
  EXPECT_THAT(world_.service()["metadata"]["finalizers"], ElementsAre(Json("orphan")));
  EXPECT_EQ(world_.clusters().size(), 1U);
}

TEST_F(RayServicePlan, ARefusedServiceCreatesNothingAndRecovers) {
  world_.service()["spec"]["serveConfigV2"] = "- a";
  const plan::Plan plan = world_.reconcile();
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

TEST_F(RayServicePlan, TheInitializingTimeoutIsFinal) {
  world_.service()["metadata"]["annotations"]["ray.io/initializing-timeout"] = "30s";
  world_.reconcile();
  world_.ray(world_.pending()).statuses["app"] = "DEPLOYING";
  EXPECT_GT(world_.plan().requeue_after.value_or(Duration::zero()), Duration::zero());
  world_.advance();
  for (int i = 0; i < 12; ++i) rounds(1);
  EXPECT_EQ(world_.condition(kReady), "False: InitializingTimeout");
  EXPECT_EQ(world_.pending(), "");
  EXPECT_THAT(world_.clusters(), IsEmpty());
  EXPECT_THAT(world_.plan(), IsEmptyPlan());

  world_.service()["metadata"]["generation"] = 9;
  world_.service()["spec"]["serveConfigV2"] = "a: [";
  world_.reconcile();
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
  world_.reconcile();
  EXPECT_EQ(world_.condition(kReady), "False: ZeroServeEndpoints");
  EXPECT_FALSE(world_.service()["status"].contains("serviceStatus"));
}

TEST_F(RayServicePlan, AClusterWithoutAHeadDoesNotHoldBackTheOther) {
  ASSERT_LE(world_.settle(), 40);
  const std::string first = world_.active();
  world_.config()["rayVersion"] = "2.60.0";
  world_.config()["suspend"] = true;  // As Kueue holds it.
  rounds(3);
  world_.ray(first).statuses["app"] = "UNHEALTHY";
  rounds(3);
  EXPECT_EQ(world_.service()["status"]["activeServiceStatus"]["applicationStatuses"]["app"]["status"], "UNHEALTHY");
}

TEST_F(RayServicePlan, AFailedCreationIsReported) {
  RayServiceObserved seen = world_.observed();
  seen.last_failure = plan::Failure{std::string(kFailedRayCluster), "rayclusters is forbidden"};
  const plan::Plan plan = plan_rayservice(seen, {}).value();
  EXPECT_THAT(plan.status->status.dump(), HasSubstr("rayclusters is forbidden"));
}

TEST_F(RayServicePlan, AFailedCreationIsTriedAgainLater) {
  RayServiceObserved seen = world_.observed();
  seen.last_failure = plan::Failure{std::string(kFailedRayCluster), "exceeded quota"};
  seen.last_failure->time = seen.now - std::chrono::seconds(10);
  const plan::Plan waits = plan_rayservice(seen, {}).value();
  EXPECT_THAT(waits, plan::Creates(raycluster::kRayClusters, {}));
  EXPECT_TRUE(waits.keeps_failure);
  EXPECT_EQ(waits.requeue_after, Duration(plan::kRefusalRetry - std::chrono::seconds(10)));
  seen.last_failure->time = seen.now - plan::kRefusalRetry;
  EXPECT_EQ(
      plan::names_of(plan_rayservice(seen, {}).value(), plan::ActionKind::kCreate, raycluster::kRayClusters).size(),
      1U);
}

TEST_F(RayServicePlan, EventsAreThoseOfTheActions) {
  const plan::Plan plan = world_.plan();
  const plan::Action& creation = plan.stages.at(1).actions.at(0);
  ASSERT_NE(creation.events, nullptr);
  ASSERT_EQ(creation.events->on_success.size(), 1U);
  EXPECT_EQ(creation.events->on_success[0].reason, "CreatedRayCluster");
  ASSERT_EQ(creation.events->on_failure.size(), 1U);
  EXPECT_EQ(creation.events->on_failure[0].reason, "FailedToCreateRayCluster");
  EXPECT_THAT(plan.events, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rayservice
