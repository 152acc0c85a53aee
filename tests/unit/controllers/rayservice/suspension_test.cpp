#include "controllers/rayservice/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayservice/rules/rayservice_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

class RayServiceSuspension : public testing::Test {
 protected:
  RayServiceSuspension() : world_(a_service()) { EXPECT_LE(world_.settle(), 40); }
  void suspend(bool value) { world_.service()["spec"]["suspend"] = value; }

  World world_;
};

TEST_F(RayServiceSuspension, IsRecordedBeforeAnythingIsDeleted) {
  suspend(true);
  const plan::Plan plan = world_.step();
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_EQ(world_.condition(kSuspendingCondition), "True: SuspendRequested");
  EXPECT_EQ(world_.condition(kReady), "False: SuspendInProgress");
  EXPECT_EQ(world_.active(), "");
  EXPECT_FALSE(world_.service()["status"].contains("numServeEndpoints"));
  EXPECT_FALSE(world_.service()["status"].contains("serviceStatus"));
}

TEST_F(RayServiceSuspension, DeletesClustersAndServices) {
  suspend(true);
  ASSERT_LE(world_.settle(), 10);
  EXPECT_THAT(world_.clusters(), IsEmpty());
  EXPECT_THAT(world_.services(), IsEmpty());
  EXPECT_EQ(world_.condition(kSuspendingCondition), "False: SuspendComplete");
  EXPECT_EQ(world_.condition(kSuspendedCondition), "True: SuspendComplete");
  EXPECT_EQ(world_.condition(kReady), "False: SuspendComplete");
}

TEST_F(RayServiceSuspension, KeepsAServiceOfAnotherOwnerWithTheSameName) {
  Json& service = world_.services().at("llm-serve-svc");
  service["metadata"]["ownerReferences"][0]["uid"] = "uid-of-another-owner";
  suspend(true);
  ASSERT_LE(world_.settle(), 10);
  EXPECT_THAT(world_.services(), ElementsAre(Key("llm-serve-svc")));
  EXPECT_EQ(world_.condition(kSuspendedCondition), "True: SuspendComplete");
}

TEST_F(RayServiceSuspension, ThatHasBegunIsCompleted) {
  suspend(true);
  world_.step();
  suspend(false);
  world_.step();
  world_.advance();
  EXPECT_THAT(world_.clusters(), IsEmpty());
  ASSERT_LE(world_.settle(), 40);
  EXPECT_EQ(world_.condition(kSuspendedCondition), "False: RayServiceResumed");
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceSuspension, EndsWithNewClusters) {
  suspend(true);
  ASSERT_LE(world_.settle(), 10);
  suspend(false);
  world_.step();
  EXPECT_EQ(world_.condition(kReady), "False: Initializing");
  ASSERT_LE(world_.settle(), 40);
  EXPECT_EQ(world_.condition(kReady), "True: NonZeroServeEndpoints");
}

TEST_F(RayServiceSuspension, AServiceThatIsCreatedSuspendedHasNoChildren) {
  Json service = a_service();
  service["spec"]["suspend"] = true;
  World world(service);
  ASSERT_LE(world.settle(), 10);
  EXPECT_THAT(world.clusters(), IsEmpty());
  EXPECT_EQ(world.condition(kSuspendedCondition), "True: SuspendComplete");
}

}  // namespace
}  // namespace tpuslice::rayservice
