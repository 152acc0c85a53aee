#include "controllers/disaggregatedset/disaggregatedset_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using plan::HasEvent;
using plan::IsEmptyPlan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(DisaggregatedSetPlan, CreatesTheSetsOfAllRolesWithTheirReplicas) {
  World world;
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan), ElementsAre("create LeaderWorkerSet " + world.name_of("prefill"),
                                                 "create LeaderWorkerSet " + world.name_of("decode")));
  EXPECT_THAT(plan, Not(HasEvent("RollingUpdateStarted")));
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new");
}

TEST(DisaggregatedSetPlan, CreatesThoseOfEachSlice) {
  Json set = a_set();
  set["spec"]["slices"] = 3;
  World world(set);
  EXPECT_EQ(plan::writes_of(world.plan(), "create LeaderWorkerSet").size(), 6U);
  world.settle();
  EXPECT_EQ(world.services().size(), 6U);
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
  EXPECT_EQ(world.status()["roleStatuses"][0]["replicas"], 6);
}

TEST(DisaggregatedSetPlan, DeletesRemovedSlicesAndTheirServices) {
  Json set = a_set();
  set["spec"]["slices"] = 3;
  World world(set);
  world.settle();
  const std::string revision = world.revision();
  world.change_set("/spec/slices", 1);
  EXPECT_EQ(world.revision(), revision);
  const plan::Plan plan = world.plan();
  EXPECT_EQ(plan::writes_of(plan, "delete LeaderWorkerSet").size(), 4U);
  EXPECT_EQ(plan::writes_of(plan, "delete Service").size(), 4U);
  EXPECT_THAT(plan, HasEvent("LWSDeleted"));
  world.settle();
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new");
}

TEST(DisaggregatedSetPlan, RestoresReplicasThatOthersChanged) {
  World world;
  world.settle();
  world.sets().at(world.name_of("decode"))["spec"]["replicas"] = 7;
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan, HasEvent("ScalingDown"));
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new");
}

TEST(DisaggregatedSetPlan, LeavesOtherFieldsOfTheSetsAlone) {
  World world;
  world.settle();
  world.sets().at(world.name_of("decode"))["spec"]["startupPolicy"] = "LeaderReady";
  world.change_set("/spec/roles/0/spec/startupPolicy", "LeaderReady");
  EXPECT_THAT(plan::writes_of(world.plan()), testing::IsEmpty());
}

TEST(DisaggregatedSetPlan, IsEmptyForASetThatIsBeingDeleted) {
  World world;
  world.settle();
  world.set()["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(DisaggregatedSetPlan, RefusesASpecWithItsFieldAndKeepsTheChildren) {
  World world;
  world.settle();
  world.change_set("/spec/roles/1/spec/leaderWorkerTemplate/size", 0);
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan), testing::IsEmpty());
  EXPECT_THAT(plan, HasEvent("InvalidDisaggregatedSetSpec"));
  EXPECT_EQ(world.condition(plan::kAccepted), "False: InvalidSpec");
  EXPECT_THAT(world.message(plan::kAccepted), HasSubstr("spec.roles[1].spec.leaderWorkerTemplate.size"));
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
  EXPECT_THAT(world.plan(), IsEmptyPlan());
}

TEST(DisaggregatedSetPlan, WritesHaveTheUidOfWhatWasObserved) {
  World world(a_set({{"prefill", 2}, {"decode", 1, true}}));
  world.settle();
  world.use_image("serve:2");
  for (int round = 0; round < 8; ++round) {
    const plan::Plan plan = world.step();
    for (const plan::Stage& stage : plan.stages) {
      for (const plan::Action& action : stage.actions) {
        EXPECT_EQ(action.preconditions.uid.empty(), action.kind == plan::ActionKind::kCreate) << action.key.name;
        EXPECT_FALSE(action.failure_reason.empty()) << action.key.name;
      }
    }
    world.advance();
  }
}

// A policy that denies services does not keep the replicas from being changed.
TEST(DisaggregatedSetPlan, ARefusedServiceHoldsNothingBack) {
  World world;
  world.refuse([](const plan::Action& action) -> std::optional<Error> {
    if (action.type != kServices) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "a policy denies it");
  });
  for (int round = 0; round < 4; ++round) {
    world.step();
    world.advance();
  }
  world.scale("decode", 4);
  world.step();
  EXPECT_EQ(picture(world), "0 decode 4 new, 0 prefill 2 new");
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
