// Objects of other owners that have the names of children.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using leaderworkerset::kLeaderWorkerSets;
using plan::HasEvent;
using testing::HasSubstr;
using testing::Not;

Json foreign(const ResourceType& type, const std::string& name) {
  return {{"apiVersion", type.api_version()},
          {"kind", type.kind},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", Json::object()}};
}

TEST(Conflicts, ALeaderWorkerSetOfAnotherOwnerIsNotTouched) {
  World world;
  const std::string name = world.name_of("prefill");
  world.add(kLeaderWorkerSets, foreign(kLeaderWorkerSets, name));
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan), testing::ElementsAre("create LeaderWorkerSet " + world.name_of("decode")));
  EXPECT_THAT(plan, HasEvent("NameConflict"));
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry);
  EXPECT_EQ(world.condition(plan::kChildrenReady), "False: NameConflict");
  EXPECT_THAT(world.message(plan::kChildrenReady), HasSubstr("leaderworkerset default/" + name + " has no controller"));
  EXPECT_THAT(world.plan(), Not(HasEvent("NameConflict")));
}

TEST(Conflicts, AreGoneWithTheObject) {
  World world;
  world.add(kLeaderWorkerSets, foreign(kLeaderWorkerSets, world.name_of("prefill")));
  world.step();
  world.advance();
  world.settle();
  EXPECT_EQ(world.condition(plan::kChildrenReady), "True: ChildrenReady");
  EXPECT_EQ(world.condition(kAvailable), "True: AllRolesReady");
}

TEST(Conflicts, AnEarlierSetOfThatNameIsWaitedFor) {
  World world;
  Json earlier = foreign(kLeaderWorkerSets, world.name_of("prefill"));
  earlier["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", kDisaggregatedSets.api_version()},
                                                         {"kind", kDisaggregatedSets.kind},
                                                         {"name", "llm"},
                                                         {"uid", "uid-of-an-earlier-one"},
                                                         {"controller", true}}});
  world.add(kLeaderWorkerSets, earlier);
  world.step();
  EXPECT_EQ(world.condition(plan::kChildrenReady), "False: ChildrenPending");
  EXPECT_EQ(world.plan().requeue_after, plan::kConflictRetry);
}

TEST(Conflicts, AScalerOfAnotherOwnerIsNotAdopted) {
  World world(a_set({{"prefill", 2}, {"decode", 1, true}}));
  world.add(kRoleScalers, foreign(kRoleScalers, "llm-decode"));
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan, HasEvent("ScalerConflict"));
  EXPECT_THAT(world.message(plan::kChildrenReady), HasSubstr("disaggregatedsetrolescaler default/llm-decode"));
  EXPECT_THAT(world.message(kProgressing), HasSubstr("role decode has no scaler"));
  EXPECT_EQ(int_at(world.sets().at(world.name_of("decode")), {"spec", "replicas"}), 0);
}

TEST(Conflicts, AServiceOfAnotherOwnerIsAcceptedOnlyIfItSelectsThePods) {
  World world;
  const std::string name = service_name(world.name_of("prefill"));
  world.step();
  world.advance();
  world.add(kServices, foreign(kServices, name));
  const plan::Plan plan = world.step();
  EXPECT_THAT(plan::writes_of(plan), testing::ElementsAre("create Service " + service_name(world.name_of("decode"))));
  EXPECT_THAT(world.message(plan::kChildrenReady), HasSubstr("service default/" + name));
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
